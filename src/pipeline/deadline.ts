/** A call did not end in time: what it did is unknown. */
export class NoAnswer extends Error {}

/** Waits for `call` no longer than `ms`; the call itself can't be stopped and goes on. @throws NoAnswer */
export function within(call: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      settle();
    };
    const aborted = () => {
      end(() => {
        reject(signal.reason as Error);
      });
    };
    const timer = setTimeout(
      () => {
        end(() => {
          reject(new NoAnswer(`no answer within ${Math.round(ms)} ms`));
        });
      },
      Math.max(0, ms),
    );
    signal.addEventListener('abort', aborted, { once: true });
    call.then(
      () => {
        end(resolve);
      },
      (error: unknown) => {
        end(() => {
          reject(error);
        });
      },
    );
  });
}
