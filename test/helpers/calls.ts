type Callback<T> = (error: unknown, result: T) => void;

/** Turns one call of the client's callback API into a promise. */
export async function call<T>(start: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    start((error, result) => {
      if (error) reject(error instanceof Error ? error : new Error(JSON.stringify(error)));
      else resolve(result);
    }),
  );
}
