import type { CompiledConfig, FlowConfig } from './compiled.ts';

/**
 * The name of one worker, to the group and to the transaction coordinator: the same from start to start, so that each
 * process finds and ends what its predecessor left, and no two living ones share it.
 */
export function memberId(application: string, flow: string, instance: string, worker: number): string {
  return [application, flow, instance, worker].join('.');
}

/** A pipeline or an effect as one of its workers runs it. */
export function asWorker<F extends FlowConfig>(flow: F, worker: number, config: CompiledConfig): F {
  const id = memberId(config.application, flow.name, config.instance, worker);
  const group = { ...flow.group, instanceId: flow.group.instanceId === null ? null : id };
  return { ...flow, worker, transactionalId: id, group };
}
