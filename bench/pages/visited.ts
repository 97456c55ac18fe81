import { listRequests } from '#core/gateway/records/read-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { models, operator } from './catalog.ts';

export type Visitor = 'largest' | 'median' | 'operator' | 'nobody'; // accounts by their requests, or a visitor without an account
export type Visitors = Readonly<Record<Exclude<Visitor, 'nobody'>, string>>;

export interface VisitedPage {
  readonly path: string;
  readonly visitor: Visitor;
}

const day = 86_400_000; // ms

export async function findVisitors(database: Database): Promise<Visitors> {
  const accounts = await database.query<{ id: string; email: string }>(
    `SELECT account.id, account.email FROM account
     LEFT JOIN (SELECT account_id, sum(answered) AS requests FROM usage_hour GROUP BY account_id) AS counted
       ON counted.account_id = account.id
     ORDER BY requests DESC NULLS LAST`,
  );
  return {
    largest: requireId(accounts[0]),
    median: requireId(accounts[Math.floor(accounts.length / 2)]),
    operator: requireId(accounts.find(({ email }) => email === operator)),
  };
}

function requireId(account: { readonly id: string } | undefined): string {
  if (account === undefined) throw new Error('the database has no accounts of the seed; name an empty one');
  return account.id;
}

/** Each page has the form that makes it slow. */
export async function findPages(
  database: Database,
  { largest: accountId, median, operator: least }: Visitors,
  now: number,
): Promise<VisitedPage[]> {
  const [old] = (await listRequests(database, { accountId, until: now - 20 * day }, { limit: 1 })).records;
  const [latest] = (await listRequests(database, { accountId, hasFailover: true }, { limit: 1 })).records;
  const lists = [
    '',
    '?time=30d',
    '?time=30d&show=errors',
    '?time=30d&show=failover',
    '?time=30d&show=cached',
    '?time=30d&model=dp%2Fqwen3-coder',
    '?time=30d&status=429',
    '?time=30d&status=5xx',
    '?time=30d&status=stopped',
    '?time=30d&show=errors&model=dp%2Fqwen3-coder',
    '?time=30d&show=failover&status=5xx',
    '?time=30d&model=dp%2Fnever-called',
    `?time=30d&before=${old?.id}`,
    `?time=30d&show=errors&before=${old?.id}`,
    // Matches no request.
    '?time=30d&status=404',
    '?time=30d&show=failover&status=429',
    '?time=30d&show=cached&status=5xx',
    '?time=30d&show=cached&status=5xx&model=dp%2Fqwen3-coder',
  ];
  const ofAccounts = [accountId, median, least, 'nobody%40example.com'].flatMap((account) =>
    ['', '&show=errors', '&model=dp%2Fqwen3-coder', '&status=404', '&show=cached&status=5xx'].map(
      (narrowed) => `?time=30d&account=${account}${narrowed}`,
    ),
  );
  const customer = [
    '/dashboard',
    '/dashboard?range=30d',
    ...lists.map((query) => `/dashboard/requests${query}`),
    `/dashboard/requests/${latest?.id}`,
    '/dashboard/models',
    '/dashboard/try',
    '/dashboard/connect',
    '/orders',
    '/account',
  ];
  const operatorPages = [
    '',
    '?span=30d',
    '/orders',
    '/accounts',
    '/accounts/heaviest?span=30d&by=tokens',
    '/orders/margins',
    '/orders/margins?by=account',
    '/orders/books',
    `/accounts/${accountId}`,
    ...[...lists, '?time=1h', '?time=all', ...ofAccounts].map((query) => `/requests${query}`),
    `/requests/${latest?.id}`,
    '/routes',
    `/route-trends?route=${encodeURIComponent(Object.values(models)[0]?.[0] ?? '')}`,
    '/health',
    '/balances',
    '/closed-keys',
    '/retirements',
  ].map((path) => `/operator${path}`);
  return [
    ...customer.map((path) => ({ path, visitor: 'largest' as const })),
    ...['/dashboard', '/dashboard/requests', '/dashboard/requests?time=30d'].map((path) => ({
      path,
      visitor: 'median' as const,
    })),
    ...operatorPages.map((path) => ({ path, visitor: 'operator' as const })),
    ...['/', '/status', '/docs', '/buy'].map((path) => ({ path, visitor: 'nobody' as const })),
  ];
}
