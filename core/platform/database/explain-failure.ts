/** @throws Error, without the URL, which may contain a password, when DATABASE_URL is not a PostgreSQL URL */
export function checkUrl(url: string): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return;
  throw new Error('DATABASE_URL is not a valid PostgreSQL URL. Use postgres://user:password@host:5432/database.');
}

/** Names the database of a connection error, without the password. Other errors are returned unchanged. */
export function explainFailure(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { host, pathname } = new URL(url);
  return new Error(`The database ${host || 'localhost'}${pathname} of DATABASE_URL could not be opened`, {
    // When all addresses of a host refuse, the driver throws one error without a message.
    cause: error.message === '' ? new Error(String(error.code)) : error,
  });
}
