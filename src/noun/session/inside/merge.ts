/** Merges several streams; each keeps its order. A stream waits until its last value was taken. */
export async function* mergeFollowed<T>(
  signal: AbortSignal,
  begin: (add: (stream: AsyncIterable<T>) => void) => () => void,
): AsyncGenerator<T> {
  const ready: { readonly value: T; readonly taken: () => void }[] = [];
  let failure: { readonly error: unknown } | null = null;
  let wake = () => {};
  let isOver = false;
  const pump = async (stream: AsyncIterable<T>) => {
    for await (const value of stream) {
      if (isOver) return;
      await new Promise<void>((taken) => {
        ready.push({ value, taken });
        wake();
      });
    }
  };
  const fail = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const end = begin((stream) => void pump(stream).catch(fail));
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const next = ready.shift();
      if (next) {
        yield next.value;
        next.taken();
      } else if (failure) throw (failure as { readonly error: unknown }).error;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    end();
    isOver = true;
    for (const { taken } of ready) taken();
  }
}
