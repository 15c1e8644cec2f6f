/** The result of a task, or of `late` after the time-out. The task itself is not cancelled. */
export async function withTimeout<T>(withinMs: number, task: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  try {
    return await Promise.race([task, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
