/** Resolves after this many ms, or as soon as the signal aborts. Keeps no process alive. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  const timer = setTimeout(finish, milliseconds).unref();
  signal.addEventListener('abort', finish, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', finish);
}
