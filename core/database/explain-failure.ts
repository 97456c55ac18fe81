/** @throws Error when DATABASE_URL is none that PostgreSQL's driver could connect with; its text may hold a password */
export function checkUrl(url: string): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return;
  throw new Error('DATABASE_URL is no address of a PostgreSQL; write postgres://user:password@host:5432/database');
}

/** Says which database could not be opened, without the password. What is not about the connection stays as it is. */
export function explainFailure(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { host, pathname } = new URL(url);
  return new Error(`the database ${host || 'localhost'}${pathname} cannot be opened; DATABASE_URL names it`, {
    // Several addresses of one host that all refuse come as one error without a text.
    cause: error.message === '' ? new Error(String(error.code)) : error,
  });
}
