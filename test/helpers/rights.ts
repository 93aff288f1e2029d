import type { Acl } from './access.ts';
import type { Scenario } from './scenario.ts';

/** The ACLs that one instance of a scenario needs, by what they are for. */
export function rightsOf(
  user: string,
  instance: string,
  { input, outputs, deadLetters, group }: Pick<Scenario, 'input' | 'outputs' | 'deadLetters' | 'group'>,
): Record<'input' | 'left' | 'right' | 'deadLetters' | 'group' | 'transactionalId', Acl> {
  const write = (name: string): Acl => ({ user, resource: 'topic', name, operation: 'write' });
  return {
    input: { user, resource: 'topic', name: input, operation: 'read' },
    left: write(outputs.left),
    right: write(outputs.right),
    deadLetters: write(deadLetters),
    group: { user, resource: 'group', name: group, operation: 'read' },
    transactionalId: { user, resource: 'transactionalId', name: `${group}.${instance}.0`, operation: 'write' },
  };
}
