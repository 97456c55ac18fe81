import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { Gateway } from '#core/process/app.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { createGatewayFolder } from '../support/gateway-home.ts';
import { PageClient } from '../support/page-client.ts';
import { longNames } from './long-names.ts';
import { type ReceiptPaths, writeConsent, writeDataRequests, writeReceipts } from './seed-papers.ts';
import { grantWeek, writeAccount, writeCanary, writeFormer, writeProbes, writeTraffic } from './seed.ts';

/** Nobody calls these upstreams; only the catalog needs them. */
const yaml = `
service: { name: Daypass, base_url: "http://daypass.localhost", contact: "mailto:hello@daypass.example" }
operators: [admin@daypass.example]
payments: { gifts: true }
outages: { credit: true }
data_requests: { enabled: true }
consents:
  news: { label: { en: Send me news and offers by e-mail., id: Kirimi saya kabar dan penawaran lewat email. } }
  reminders: { label: { en: Remind me by WhatsApp before my pass ends., id: Ingatkan saya lewat WhatsApp sebelum paket berakhir. } }
seller:
  name: ${longNames.seller}
  address: "Jl. Merdeka 1, RT 01/RW 02\\nJakarta Pusat 10110"
  npwp: "0012345678901000"
  registrations: [NIB 1234567890123, PSE 000123.01/DJAI.PSE/11/2026]
  tax: { name: PPN, rate: 12, base: 11/12 }
sign_in:
  google: { client_id: screens, client_secret: screens }
  github: { client_id: screens, client_secret: screens }
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 60, period: 60, burst: 60, concurrent: 8 }
  - cache
  - format
  - upstream
  - log: { keep_days: 400 }
upstreams:
  openai: { vendor: openai, api_keys: [screens], cost: { input: 0.35, cached: 0.075, output: 1.2, currency: USD } }
  claude: { vendor: anthropic, api_keys: [screens], cost: { monthly: 900000 } }
  google: { vendor: gemini, api_keys: [screens], cost: { input: 1100, output: 9000 } }
  other: { format: [chat], base_url: "http://127.0.0.1:9/v1" }
  fireworks: { format: [chat], base_url: "http://127.0.0.1:9/v1" }
exchange_rates: { USD: 16400 }
models:
  claude-sonnet-5-5: { routes: [claude/claude-sonnet-5-5, other/claude-sonnet-5-5], max_input_tokens: 200000, max_tokens: 64000 }
  gpt-6-sol: { routes: [openai/gpt-6-sol, other/gpt-6-sol], max_input_tokens: 400000, max_tokens: 128000 }
  gemini-3.8-flash: { routes: [google/gemini-3.8-flash, other/gemini-3.8-flash], max_input_tokens: 1048576, max_tokens: 65536 }
  qwen3-coder: { routes: [other/qwen3-coder], max_input_tokens: 262144, capabilities: { images: false, reasoning: false } }
  ${longNames.model}: { routes: [fireworks/${longNames.model}, other/${longNames.backup}], capabilities: { reasoning: false } }
  text-embedding-3-large: { routes: [openai/text-embedding-3-large], max_input_tokens: 8191 }
  gpt-image-2.6-sunburst: { routes: [openai/gpt-image-2.6-sunburst] }
aliases: { sonnet: claude-sonnet-5-5, claude-sonnet-latest: claude-sonnet-5-5, claude-haiku-latest: claude-sonnet-5-5, gpt-demo: gpt-6-sol }
`;

const quiet = { info: () => undefined, warn: () => undefined, error: console.error };

/**
 * Whose eyes a page is seen with: an account with requests, one with orders, one whose pass has ended, one without any of it, the
 * operator, nobody.
 */
export const readers = ['customer', 'buyer', 'former', 'newcomer', 'operator', 'visitor'] as const;
export type Reader = (typeof readers)[number];

/** Orders of the buyer in the order they were made, with their days and what the sandbox's bank did with them. */
const orderStates = {
  paid: { days: '7', action: 'pay' },
  wrong: { days: '30', action: 'pay-wrong-amount' },
  failed: { days: '1', action: 'fail' },
  expired: { days: '3', action: 'expire' },
  waiting: { days: '7', action: undefined },
  gift: { days: '30', action: 'pay', gift: '1' },
  redeemed: { days: '3', action: 'pay', gift: '1' },
  refunded: { days: '30', action: 'pay' },
} as const;
type OrderState = keyof typeof orderStates;

/** A running gateway whose pages have something to show. */
export interface ScreenWorld extends AsyncDisposable {
  readonly url: string;
  /** Value of the cookie `dp_session`; undefined for a visitor. */
  readonly sessions: Readonly<Record<Reader, string | undefined>>;
  readonly orders: Readonly<Record<OrderState, string>>;
  /** Paths of the receipt of a company with two refunds: of its buyer, of the operator, and that of its mail. */
  readonly receipt: ReceiptPaths;
  /** Id of a request of the customer about its data. */
  readonly dataRequest: string;
  /** Id of a request of the customer that two routes tried. */
  readonly failover: string;
  /** Lets a route fail, a health check, and a change of gateway.yaml: for what pages say then. */
  plantTrouble(): Promise<void>;
  /** Id of the customer's account. */
  readonly customerId: string;
  /** Id of the buyer's account, with orders and long names. */
  readonly buyerId: string;
}

const keptRows = {
  en: {
    consents: '| consents that you gave | what each one is for | until you delete the account |',
    requests: '| what you asked us about your data | to answer you | 5 years |',
  },
  id: {
    consents: '| persetujuan yang kamu berikan | tujuan masing-masing | sampai kamu menghapus akun |',
    requests: '| permintaanmu tentang datamu | untuk menjawabmu | 5 tahun |',
  },
};

/** The drafts of pages, as if filled in. */
async function writePages(folder: string): Promise<void> {
  await mkdir(join(folder, 'pages'));
  for await (const file of glob('plugins/shop-pages/drafts/*.md')) {
    const draft = await readFile(file, 'utf8');
    const language = file.endsWith('.id.md') ? 'id' : 'en';
    const text = draft
      .replace('draft: true\n', '')
      .replace('{{plans}}', '| Plan | Price |\n|---|---:|\n| 7 | Rp 95.000 |\n| 30 | Rp 289.000 |')
      .replace('{{consents_kept}}', keptRows[language].consents)
      .replace('{{data_requests_kept}}', keptRows[language].requests)
      .replaceAll(/\{\{(.+?)\}\}/g, (_, name: string) => name.replaceAll('_', ' '));
    await writeFile(join(folder, 'pages', basename(file)), text);
  }
}

/**
 * @param databaseUrl a migrated, empty database
 * @param days of traffic behind the status page and the chart
 */
export async function openScreenWorld(databaseUrl: string, days: number): Promise<ScreenWorld> {
  const { folder, file, write } = await createGatewayFolder(yaml.replace(', gpt-demo: gpt-6-sol', ''));
  await writePages(folder);
  const gateway = await Gateway.start({ file, environment: { DATABASE_URL: databaseUrl }, log: quiet });
  // A change to go back from.
  await write(yaml);
  await gateway.reload();
  await writeCanary(gateway.host.database);
  const { database } = gateway.host;
  const [customer, buyer, former, newcomer, operator, others] = await Promise.all([
    createAccount(database, 'dp', { name: 'Rani Putri', email: 'rani@example.com' }),
    createAccount(database, 'dp', { name: longNames.person, email: longNames.email }),
    createAccount(database, 'dp', { name: 'Wayan', email: 'wayan@example.com' }),
    createAccount(database, 'dp', { name: 'Budi', email: 'budi@example.com' }),
    createAccount(database, 'dp', { name: 'Ayu Dewi', email: 'admin@daypass.example' }),
    createAccount(database, 'dp', { name: 'Sari', email: 'sari@example.com', period: { days: 30, reason: 'grant' } }),
  ]);
  await database.query(
    `insert into identity (provider, subject, account_id, email, name) select 'google', email, id, email, name from account`,
  );
  const store = new Sessions(database);
  const device =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
  const tokenFor = async (accountId: string) => (await store.create(accountId, device)).token;
  const sessions = {
    customer: await tokenFor(customer.accountId),
    buyer: await tokenFor(buyer.accountId),
    former: await tokenFor(former.accountId),
    newcomer: await tokenFor(newcomer.accountId),
    operator: await tokenFor(operator.accountId),
    visitor: undefined,
  };
  const orders = await makeOrders(gateway.url, sessions.buyer);
  const now = Date.now();
  await redeem(gateway.url, sessions.buyer, orders.redeemed, await tokenFor(others.accountId));
  const receipt = await writeReceipts(gateway.host, orders);
  const dataRequest = await writeDataRequests(database, customer.accountId);
  await writeConsent(database, customer.accountId);
  await grantWeek(database, customer.accountId, now);
  await writeFormer(database, former.accountId, now);
  const failover = await writeAccount(database, customer.accountId, now, days);
  await writeTraffic(database, others.accountId, now, days);
  await writeProbes(database, now);
  return {
    url: gateway.url,
    sessions,
    orders,
    receipt,
    dataRequest,
    failover,
    customerId: customer.accountId,
    buyerId: buyer.accountId,
    async plantTrouble() {
      const authorization = `Bearer ${others.key}`;
      for (let count = 0; count < 6; count++) {
        const body = JSON.stringify({ model: 'qwen3-coder', messages: [{ role: 'user', content: `Hello ${count}` }] });
        await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { authorization }, body });
      }
      await write(`${yaml}\nprobes: { enabled: true }`);
      await gateway.reload();
      await untilShown(gateway.url, sessions.operator, 'claude/claude-sonnet-5-5 (fingerprint)');
      await write(yaml.replace('limit: 60', 'limit: sixty'));
      await gateway.reload().catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Health checks read in the background what they look at. */
async function untilShown(url: string, operator: string, text: string): Promise<void> {
  const client = new PageClient(url);
  client.cookies.set('dp_session', operator);
  for (let tries = 0; tries < 100; tries++) {
    if ((await client.get('/operator/health')).text.includes(text)) return;
    await sleep(50);
  }
  throw new Error(`/operator/health does not show ${text}`);
}

/** Redeems the code of a gift that the buyer has paid. */
async function redeem(url: string, buyer: string, order: string, session: string): Promise<void> {
  const [giving, taking] = [new PageClient(url), new PageClient(url)];
  giving.cookies.set('dp_session', buyer);
  taking.cookies.set('dp_session', session);
  const [, code = ''] = /id="pass-on-code">([^<]+)/.exec((await giving.get(`/orders/${order}/done`)).text) ?? [];
  await taking.submit('/redeem', '/redeem', { code });
}

/** An order in each state, each made and brought there over HTTP. */
async function makeOrders(url: string, session: string): Promise<Record<OrderState, string>> {
  const orders: Partial<Record<OrderState, string>> = {};
  for (const [state, { action, ...fields }] of Object.entries(orderStates)) {
    const client = new PageClient(url);
    client.cookies.set('dp_session', session);
    const made = await client.submit('/buy', '/buy', fields);
    const code = made.location.split('/').at(-1) ?? '';
    if (!code.startsWith('ORD-')) throw new Error(`no order: ${made.status} ${made.location}`);
    orders[state as OrderState] = code;
    if (action !== undefined) await client.submit(`/sandbox/${code}.1`, `/sandbox/${code}.1`, { action });
  }
  return orders as Record<OrderState, string>;
}
