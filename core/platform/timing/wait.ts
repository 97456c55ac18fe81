/** Resolves after the delay, or as soon as the signal aborts. Does not keep the process alive. */
export async function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  const timer = setTimeout(finish, delayMs).unref();
  signal.addEventListener('abort', finish, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', finish);
}
