import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { getPaymentProviders } from '#core/business/payments/connections.ts';
import { PaymentError, type PaymentProvider, type StatedMovement } from '#core/business/payments/payment-provider.ts';
import { type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { booksPage } from '../../../plugins/books/page.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createPaymentHost } from '../../core/business/payments/fixture.ts';
import { type ActionPage, describeActionPages } from '../../support/action-pages.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient, signInAt } from '../../support/page-client.ts';
import { caseFactor } from '../../support/runs.ts';

const operator = 'ops@example.com';
const books = '/operator/orders/books';

let gateway: TestGateway;
let ops: PageClient;
let customer: PageClient;
let accountId: string;
/** The provider whose books are compared: what it lists. */
let bank: FakeProvider;
let listed: StatedMovement[];
let bankName: string;
/** Each test has its days, so that none needs to be cleared. */
let year = 2030;
let day: string;

beforeAll(async () => {
  gateway = await startGateway({ yaml: `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]\n` });
  [ops, customer] = [await signIn(operator), await signIn('customer@example.com')];
  ({ accountId } = await createAccount(gateway.database, 'dp', { name: 'Budi' }));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

beforeEach(() => {
  day = `${++year}-01-31`;
  bank = new FakeProvider('bank');
  listed = [];
  bank.connection.listMovements = () => Promise.resolve({ movements: listed });
  const { connection } = bank;
  // Connections are made once for a configuration.
  const provider: PaymentProvider = { ...bank.provider, name: crypto.randomUUID(), connect: () => connection };
  bankName = provider.name;
  (getPaymentProviders(gateway.gateway.host) as Map<string, PaymentProvider>).set(bankName, provider);
});
const signIn = (email: string) => signInAt(gateway.url, email);

/** Orders that were paid at noon in Jakarta. @returns their codes */
async function addPayments(on: string, count: number): Promise<string[]> {
  const rows = await gateway.database.query<{ code: string }>(
    `with o as (
       insert into plan_order (id, code, account_id, days, price, currency, provider, state, created_at, expires_at, paid_at)
       select gen_random_uuid(), 'ORD-' || upper(substr(md5(random()::text || n), 1, 8)) || n, ?, 7, 95000, 'IDR', ?, 'paid', at, at, at
       from generate_series(1, ?::int) n, (select ?::timestamptz as at) t returning id, code, created_at
     ), a as (
       insert into payment_attempt (reference, order_id, number, provider, charge, amount, currency, expires_at, created_at, state)
       select code || '.1', id, 1, ?, 'created', 95000, 'IDR', created_at, created_at, 'paid' from o
     ), p as (
       insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
       select gen_random_uuid(), id, code || '.1', ?, 'pay-' || code, 95000, 'IDR', created_at, 'activated', '{}' from o
     ) select code from o`,
    [accountId, bankName, count, `${on} 12:00+07`, bankName, bankName],
  );
  return rows.map(({ code }) => code);
}

const stated = (id: string, amount: number, on: string): StatedMovement => {
  return { kind: 'payment', id, amount, currency: 'IDR', at: new Date(`${on}T05:00:00Z`) };
};
/** Lets time pass on a clock that stands, no faster than the database answers: its deadlines are on the same clock. */
async function passUntil(isOver: () => Promise<boolean>): Promise<void> {
  while (!(await isOver())) await vi.advanceTimersByTimeAsync(100);
}

const compare = (on: string) => ops.submit(`${books}?day=${on}`, books, { day: on });
const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const textOf = (cell: string) => plain(cell.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, '')).trim();
/** Cells of the rows of the page's tables, by the label of the table. */
function cellsOf(html: string, table: string): string[][] {
  const [, part = ''] = html.split(`aria-label="${table}"`);
  const body = part.split('</table>')[0]?.split('<tbody>')[1] ?? '';
  return body
    .split('<tr>')
    .slice(1)
    .map((row) => row.split('</td>').slice(0, -1).map(textOf));
}

it('the books open on the newest day with money', async () => {
  await addPayments('2026-01-15', 1);
  await addPayments('2026-01-17', 1);
  const [newest] = await gateway.database.query<{ day: string }>(
    `select to_char(max(paid_at) at time zone 'UTC', 'YYYY-MM-DD') as day from payment`,
  );
  expect((await ops.get(books)).text).toContain(`value="${newest?.day}"`);
});

describe('the page of the books', () => {
  it.each([
    ['en', 'Nothing to compare:', 'No money moved on this day.', 'None on record for this day.'],
    [
      'id',
      'Tidak ada yang dibandingkan:',
      'Tidak ada uang masuk atau keluar',
      'Tidak ada yang tercatat untuk hari ini.',
    ],
  ])('says in %s that nothing moved on an empty day, and compared nothing', async (language, ...sentences) => {
    const { location = '' } = await compare(day);
    const { status, text } = await ops.get(location, { 'accept-language': language });
    expect([status, ...sentences.map((one) => text.includes(one))]).toEqual([200, true, true, true]);
  });

  it('shows what only one side has, with flags that lead to the order, until the books agree', async () => {
    const [only = '', differing = '', equal = ''] = await addPayments(day, 3);
    listed = [
      stated(`pay-${differing}`, 90_000, day),
      stated(`pay-${equal}`, 95_000, day),
      stated('pay-foreign', 18_000, day),
    ];
    const { text } = await ops.follow(await compare(day));
    expect(cellsOf(text, 'On record here')).toEqual([
      [bankName, '3', 'Rp 285.000', '0', 'Rp 0', 'Rp 0', 'Rp 285.000', '1 of 3'],
    ]);
    const rows = cellsOf(text, 'Differences').map(([what, , order, here, there]) => [what, order, here, there]);
    expect(rows.toSorted()).toEqual([
      ['Payment only at the provider', `${bankName}/pay-foreign`, '—', 'Rp 18.000'],
      ['Payment only here', only, 'Rp 95.000', '—'],
      ['Payment with another amount', differing, 'Rp 95.000', 'Rp 90.000'],
    ]);
    const flags = [...text.matchAll(/href="(\/operator\/flags\/[\w-]+)"/g)].map(([, path = '']) => path);
    const pages = await Promise.all(flags.map((path) => ops.get(path)));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(pages.map((page) => page.text).join('')).toContain(`<a href="/operator/orders/${only}">`);
    listed = [only, differing, equal].map((code) => stated(`pay-${code}`, 95_000, day));
    const agreed = await ops.follow(await compare(day));
    const states = cellsOf(agreed.text, 'Differences').map(([what, , , , , state]) => [what, state]);
    expect(states.toSorted()).toEqual([
      ['Payment only at the provider', 'Resolved'],
      ['Payment only here', 'Resolved'],
      ['Payment with another amount', 'Resolved'],
    ]);
  });

  it('flags a difference once when two tabs compare at once, and says meanwhile that a comparison runs', async () => {
    await addPayments(day, 1);
    const [called, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    bank.connection.listMovements = async () => {
      called.resolve();
      await answer.promise;
      return { movements: [] };
    };
    const tabs = [compare(day), compare(day)];
    await called.promise;
    expect((await ops.get(`${books}?day=${day}`)).text).toContain('A comparison is running');
    answer.resolve();
    expect((await Promise.all(tabs)).map(({ status }) => status)).toEqual([303, 303]);
    const { text } = await ops.get(`${books}?day=${day}`);
    expect(cellsOf(text, 'Differences')).toHaveLength(1);
    expect(text).not.toContain('A comparison is running');
  });

  it('says that the provider does not answer, and records it', async () => {
    bank.connection.listMovements = () => Promise.reject(new PaymentError('rejected', 'HTTP 503'));
    await addPayments(day, 1);
    const { status, text } = await compare(day);
    expect([status, text.includes('The provider does not answer.')]).toEqual([422, true]);
    const [latest] = await listActions(gateway.database, { subject: 'books', limit: 1 });
    expect(latest).toMatchObject({ operator, outcome: 'failed', error: 'HTTP 503' });
  });

  it('says how many charges of a provider without a list could not be read', async () => {
    delete bank.connection.listMovements;
    bank.fail('status', new PaymentError('temporary', 'HTTP 503'));
    await addPayments(day, 2);
    const { status, text } = await compare(day);
    expect([status, text.includes('2 charges could not be read.')]).toEqual([422, true]);
  });

  it('lists 200 of thousands of differences and counts the others, while the file has all of them', async () => {
    // 10,000 with TEST_CASES=4.
    const count = 2_500 * caseFactor;
    for (let part = 0; part < caseFactor; part++) await addPayments(day, 2_500);
    await gateway.database.query(
      `insert into order_flag (id, order_id, kind, subject, detail)
       select gen_random_uuid(), order_id, 'not_at_provider', payment_id, '{"kind": "payment"}' from payment where provider = ?`,
      [bankName],
    );
    const { text } = await ops.get(`${books}?day=${day}`);
    expect(cellsOf(text, 'Differences')).toHaveLength(200);
    expect(text).toContain(`${(count - 200).toLocaleString('en')} more`);
    expect(cellsOf(text, 'On record here')[0]?.slice(1, 3)).toEqual([
      count.toLocaleString('en'),
      `Rp ${(count * 95_000).toLocaleString('id')}`,
    ]);
    const file = await ops.get(`${books}.csv?since=${day}`);
    expect(file.text.match(/,payment,/g)).toHaveLength(count);
    expect(file.text.trimEnd().split('\r\n').at(-1)).toMatch(`${day},,total,,${count * 95_000},IDR,`);
  });

  it('lets the browser go after 20 s, while the comparison goes on and is recorded', async () => {
    const [code = ''] = await addPayments(day, 1);
    const host = createPaymentHost(gateway.database, [{ ...bank.provider, name: bankName }]);
    let isLastPage = false;
    bank.connection.listMovements = async (_span, cursor) => {
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      if (isLastPage) return { movements: [stated(`pay-${code}`, 95_000, day)] };
      return { movements: [], next: `${Number(cursor ?? 0) + 1}` };
    };
    const account = { id: accountId, name: 'Ada', email: operator, avatarUrl: undefined };
    const latest = async () => (await listActions(gateway.database, { subject: 'books', limit: 1 }))[0];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let next: unknown;
      const submitted = booksPage.forms?.[0]?.submit({ day }, { host, account } as unknown as PageRequest);
      void Promise.resolve(submitted).then((result) => (next = result));
      await passUntil(async () => (await latest()) !== undefined && next !== undefined);
      expect(next).toEqual(new Redirect(`${books}?day=${day}`));
      expect(await latest()).toMatchObject({ outcome: 'unknown', error: undefined });
      isLastPage = true;
      await passUntil(async () => (await latest())?.outcome === 'done');
    } finally {
      vi.useRealTimers();
    }
    expect(await latest()).toMatchObject({ outcome: 'done', operator });
  });
});

describe('the files of the books', () => {
  it('have a day, a span of days and a month, as the command prints them', async () => {
    const eve = `${year}-01-30`;
    const [first = ''] = await addPayments(eve, 1);
    await addPayments(day, 3);
    const file = await ops.get(`${books}.csv?since=${eve}&until=${eve}`);
    expect(file.headers['content-disposition']).toBe(`attachment; filename="daypass-${eve}.csv"`);
    const [head, payment, total, ...rest] = file.text.split('\r\n');
    expect(head).toMatch(/^day,time,kind,order,/);
    expect(payment).toMatch(`${eve},12:00:00,payment,${first},95000,IDR,`);
    expect(total).toMatch(`${eve},,total,,95000,IDR,`);
    expect(rest).toEqual(['']);
    // The mark by which spreadsheets know the character set, which readers of text leave out.
    const cookie = [...ops.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(`${gateway.url}${books}.csv?since=${eve}`, { headers: { cookie } });
    expect(
      Buffer.from(await reply.arrayBuffer())
        .subarray(0, 6)
        .toString('hex'),
    ).toBe(Buffer.from('\uFEFFday').toString('hex'));
    const span = await ops.get(`${books}.csv?since=${eve}&until=${day}`);
    expect(span.text.match(/,payment,/g)).toHaveLength(4);
    const month = await ops.get(`${books}/month?month=${year}-01&as=csv`);
    expect(month.text.split('\r\n').slice(-3)).toEqual([
      `${day},3,285000,0,0,285000,0,IDR`,
      'total,4,380000,0,0,380000,0,IDR',
      '',
    ]);
  });

  it.each(['en', 'id'])(
    'have the document of a month, in Indonesian for a reader of %s, ready to print',
    async (language) => {
      await addPayments(day, 1);
      const { status, text } = await ops.get(`${books}/month?month=${year}-01`, { 'accept-language': language });
      expect([status, text.match(/<html lang="(\w+)"/)?.[1]]).toEqual([200, language]);
      expect(text).toContain('<article class="stack" lang="id">');
      expect(text).toContain(`Rekapitulasi peredaran bruto Januari ${year}`);
      expect(text.match(/<th scope="row">20\d\d-01-\d\d<\/th>/g)).toHaveLength(31);
      expect(plain(text)).toContain('<th scope="row">Jumlah</th><td>1</td><td>Rp 95.000</td>');
      expect(text).toContain('data-print');
    },
  );

  it.each([
    '.csv?since=2032-02-31',
    '.csv?since=2032-02-02&until=2032-02-01',
    '.csv',
    '/month?month=2032-13',
    '/month',
  ])('are refused for %s', async (path) => {
    expect((await ops.get(books + path)).status).toBe(400);
  });

  it.each(['', '.csv?since=2032-02-01', '/month?month=2032-02'])('are for operators alone: %s', async (path) => {
    expect((await (await signIn('customer@example.com')).get(books + path)).status).toBe(403);
    expect((await new PageClient(gateway.url).get(books + path)).location).toMatch(/^\/sign-in\?next=/);
  });
});

const countComparisons = async () => (await listActions(gateway.database, { subject: 'books', limit: 500 })).length;

const pages: readonly ActionPage[] = [
  {
    path: books,
    action: 'books.reconcile',
    async subject() {
      const before = await countComparisons();
      return { path: books, id: 'books', state: async () => (await countComparisons()) - before };
    },
    wrong: [[{ day: '2026-02-31' }, 'Check this field.']],
    right: { day: '2026-11-22' },
    does: [0, 1],
    note: 'day: 2026-11-22',
  },
];

describeActionPages(pages, () => ({ gateway, ops, customer, operator, reason: '' }));
