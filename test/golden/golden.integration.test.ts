import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { announcement, failedRequest, flag, orders, outage, rani, sari } from './seed.ts';
import { type GoldenWorld, openGoldenWorld } from './world.ts';

/*
 * What programs and people get from one shop at one moment: outputs of commands, answers of the operator's API, CSV, bodies of webhooks
 * and mails. `npm run golden` with GOLDEN=write takes what the product says now as what it should say; the diff is for the eyes.
 */

const folder = join(import.meta.dirname, 'files');
const isWriting = process.env['GOLDEN'] === 'write';
const known = new Set(globSync('*', { cwd: folder }));

let world: GoldenWorld;
beforeAll(async () => {
  if (isWriting) rmSync(folder, { recursive: true, force: true });
  world = await openGoldenWorld();
}, 120_000);
afterAll(() => world[Symbol.asyncDispose]());

/** Compares with the file of this name, or writes it. */
function expectGolden(name: string, text: string): void {
  const file = join(folder, name);
  known.delete(name);
  if (isWriting) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } else expect(text, `test/golden/files/${name}`).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
}

/** Replaces what differs from run to run: ids that the product makes, each by the order in which it appears. */
function withoutChance(text: string): string {
  const names = new Map<string, string>();
  const nameOf = (kind: string, value: string) => {
    const name = names.get(value) ?? `<${kind} ${names.size + 1}>`;
    names.set(value, name);
    return name;
  };
  return text
    .replace(/\b(?!01980000-0000-7000-8000-)[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, (id) =>
      nameOf('id', id),
    )
    .replace(/--_NmP-\w+(?:-\w+)*/g, (boundary) => nameOf('boundary', boundary))
    .replace(/^Message-ID: .*$/gim, 'Message-ID: <id>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll('\r\n', '\n');
}

/** A mail as people read it: without the encoding of its parts. */
function decode(raw: string): string {
  const bytes = raw
    .replace(/=\r\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

async function inTurn(parts: readonly (() => Promise<string>)[]): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) texts.push(await part());
  return withoutChance(texts.join('\n'));
}

const commands: Readonly<Record<string, readonly (readonly string[])[]>> = {
  account: [
    ['account', 'list', '--json'],
    ['account', 'find', 'rani', '--json'],
    ['account', 'show', 'rani@example.com', '--json'],
    ['account', 'export', 'rani@example.com'],
    ['account', 'credit-outage'],
    ['account', 'credit-outage', '--json'],
  ],
  key: [['key', 'show', 'rani@example.com', '--json']],
  orders: [
    ['orders', 'list', '--json'],
    ['orders', 'find', 'sari', '--json'],
    ['orders', 'flags', '--json'],
    ['orders', 'show', 'ORD-2222PAYD', '--json'],
    ['orders', 'show', 'ORD-2222BACK', '--json'],
  ],
  probe: [['probe', '--json'], ['probe']],
  requests: [
    ['requests', '--json'],
    ['requests', 'show', failedRequest, '--json'],
  ],
  sales: [['sales', '--json']],
  history: [['history', '--json']],
  vouchers: [
    ['voucher', 'list', '--json'],
    ['voucher', 'codes', '--json'],
    ['voucher', 'codes'],
  ],
  tables: [
    ['account', 'list'],
    ['orders', 'list'],
    ['orders', 'flags'],
    ['requests'],
    ['sales'],
    ['voucher', 'list'],
    ['history'],
  ],
  usage: [
    ['usage', '--json'],
    ['usage', '--by', 'model', '--json'],
    ['usage', '--by', 'route', '--json'],
    ['usage', '--by', 'account', '--json'],
  ],
};

it.each(Object.entries(commands))('daypass %s prints what it did', async (name, lines) => {
  expectGolden(`command-${name}.txt`, await inTurn(lines.map((words) => () => world.run(...words))));
});

it('daypass routes prints what it did', async () => {
  expectGolden('command-routes.txt', await inTurn([() => world.routes('--json'), () => world.routes()]));
});

/** Checks that look at nothing of this machine. */
const steadyChecks = 'configuration,redis,mail,payments,sign_in';

it('daypass doctor and daypass backup print what they did', async () => {
  const target = await mkdtemp(join(tmpdir(), 'daypass-golden-backup-'));
  onTestFinished(() => rm(target, { recursive: true, force: true }));
  const lines = [
    ['doctor', '--only', steadyChecks, '--json'],
    ['doctor', '--only', 'redis,mail,payments,sign_in'],
    ['backup', '--to', target, '--json'],
    ['backup', '--to', target],
  ];
  const text = await inTurn(lines.map((words) => () => world.run(...words)));
  expectGolden(
    'command-doctor-backup.txt',
    text
      .replaceAll(target, '<folder>')
      .replace(/(?<=<folder>\/)[^":]*/g, '<file>')
      .replace(/\/\S*gateway\.yaml/g, '<gateway.yaml>')
      .replace(/"version":"[^"]*",|(?<="migrations":\[)[^\]]*/g, '')
      .replace(/(?<="(?:ms|bytes|rows|tables)":)\d+/g, '<number>')
      .replace(/\d+ rows in \d+ tables, \d+ bytes, [\d.]+ s/, '<numbers>')
      .replace(/\b\d+ ms\b/g, '<number> ms'),
  );
});

it('books and vouchers are exported as they were', async () => {
  const lines = [
    ['orders', 'export', '--since', '2026-11-01', '--until', '2026-11-30'],
    ['orders', 'month', '2026-11'],
    ['voucher', 'export'],
    ['voucher', 'month', '2026-11'],
  ];
  expectGolden('csv.txt', await inTurn(lines.map((words) => () => world.run(...words))));
});

const readings: Readonly<Record<string, readonly string[]>> = {
  accounts: ['/accounts', `/accounts/${rani}`, '/accounts/budi@example.com', '/accounts?words=sari'],
  announcements: ['/announcements'],
  configuration: ['/configuration', '/configurations'],
  flags: ['/flags'],
  margins: ['plan', 'model', 'route', 'account', 'day'].map((group) => `/margins?by=${group}`),
  orders: ['/orders', ...Object.values(orders).map((id) => `/orders/${id}`), '/orders?flagged=true'],
  outages: ['/outages', '/outage?since=2026-11-18T05:00:00Z&until=2026-11-18T06:00:00Z'],
  plans: ['/plans'],
  probes: ['/probes'],
  requests: [
    '/requests',
    '/requests?status=error',
    '/requests?status=lost',
    `/requests/${failedRequest}`,
    '/requests/req_none',
  ],
  routes: ['/routes'],
  sales: ['/sales'],
  unauthenticated: ['/unauthenticated'],
  usage: ['/usage', '/usage?by=route', '/usage?by=client&account=sari'],
  vouchers: ['/batches', '/vouchers', '/vouchers?batch=none'],
  unknown: ['/accounts/nobody', '/nothing', '/orders?state=lost'],
};

it.each(Object.entries(readings))("the operator's API reads %s as it did", async (name, paths) => {
  expectGolden(`api-${name}.txt`, await inTurn(paths.map((path) => () => world.call('GET', path))));
});

const same: readonly (readonly [path: string, ...words: string[]])[] = [
  [`/accounts/${rani}`, 'account', 'show', rani],
  ['/accounts', 'account', 'list'],
  ['/orders', 'orders', 'list'],
  [`/orders/${orders.paid}`, 'orders', 'show', orders.paid],
  ['/flags', 'orders', 'flags'],
  ['/requests', 'requests'],
  ['/usage', 'usage'],
  ['/usage?by=route', 'usage', '--by', 'route'],
  ['/sales', 'sales'],
  ['/outages', 'account', 'credit-outage'],
  ['/batches', 'voucher', 'list'],
  ['/vouchers', 'voucher', 'codes'],
  ['/announcements', 'announcement', 'list'],
  ['/mails', 'mail', 'list'],
  ['/configurations', 'history'],
  ['/probes', 'probe'],
  ['/tokens', 'operator-token', 'list'],
];

it.each(same)('GET %s of the operator API is what daypass %s --json prints', async (path, ...words) => {
  // `account` and `sign_ins` of the API are former names, and some commands print a list at the top, until 0.7.
  const { account: _account, sign_ins: _signIns, ...read } = jsonOf(await world.call('GET', path));
  const printed = jsonOf(await world.run(...words, '--json'));
  expect(printed).toMatchObject(Array.isArray(printed) ? (read[path.slice(1)] as object) : read);
});

const jsonOf = (text: string) => JSON.parse(text.slice(text.search(/^[[{]/m))) as Record<string, unknown>;

it('mails and alerts are what they were', async () => {
  const { mails, webhooks } = await world.send();
  expect([mails.length, webhooks.length]).toEqual([11, 3]);
  expectGolden(
    'mails.txt',
    mails
      .map((raw) => withoutChance(decode(raw)))
      .toSorted()
      .join(`\n${'='.repeat(80)}\n`),
  );
  const bodies = webhooks.map((body) => JSON.stringify(JSON.parse(body), null, 2));
  const told = [() => world.run('mail', 'list', '--json'), () => world.call('GET', '/mails')];
  expectGolden('mails-told.txt', await inTurn(told));
  expectGolden('webhooks.txt', `${withoutChance(bodies.toSorted().join('\n'))}\n`);
});

it('the status page and the requests of a customer are files as they were', async () => {
  expectGolden(
    'status-json.txt',
    await inTurn([() => world.get('/status.json'), () => world.get('/status.json?language=id')]),
  );
  const files = ['/dashboard/requests.csv', '/dashboard/requests.jsonl', '/dashboard/requests.csv?status=5xx'];
  expectGolden('customer-exports.txt', await inTurn(files.map((path) => () => world.get(path))));
});

const newAnnouncement = {
  kind: 'note',
  audience: 'all',
  since: '2026-11-20T04:00:00Z',
  until: '2026-11-21T04:00:00Z',
  text_en: 'Faster now.',
  text_id: 'Lebih cepat.',
};

/** The last, because they change what all others read. */
const acts: readonly (readonly [path: string, body?: object])[] = [
  [`/accounts/${rani}/note`, { note: 'asks for an invoice' }],
  [`/accounts/${rani}/add-days`, { days: 2, note: 'late answer' }],
  [`/accounts/${rani}/add-days`, { days: 0, note: 'none' }],
  [`/accounts/${rani}/block`, { note: 'by mistake' }],
  [`/accounts/${rani}/unblock`],
  [`/accounts/${rani}/change-email`, { to: 'rani.putri@example.com', note: 'asked by phone' }],
  [`/accounts/${rani}/remove-sign-in`, { sign_in: 'github', note: 'asked by phone' }],
  ['/announcements/create', newAnnouncement],
  [`/announcements/${announcement}/end`],
  [`/outage/credit`, { outage }],
  [`/flags/${flag}/resolve`, { note: 'sent back', outcome: 'money_back' }],
  ['/orders/ORD-2222PEND/cancel', { note: 'asked by mail' }],
  ['/orders/ORD-2222PAYD/refund', { payment: 'pay-ORD-2222PAYD', manual: true, note: 'asked by mail' }],
  [`/accounts/${sari}/delete`, { confirm: sari }],
];

it("the operator's API acts as it did, and every action is on record", async () => {
  const answers = acts.map(
    ([path, body]) =>
      () =>
        world.call('POST', path, body ?? {}),
  );
  const records = [`/accounts/${rani}`, `/orders/${orders.paid}`].map((path) => () => world.call('GET', path));
  expectGolden('api-acts.txt', await inTurn([...answers, ...records]));
});

it.skipIf(isWriting)('every golden file is compared', () => {
  expect([...known]).toEqual([]);
});
