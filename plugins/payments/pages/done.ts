import { issueFirstKey } from '#core/business/accounts/account-key.ts';
import { type AccountRecord, findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { isDecisionPromised } from '#core/business/payments/flags.ts';
import { type Order, type Payment, computeRefundable } from '#core/business/payments/order.ts';
import type { Registry } from '#core/extension/registry.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { type SampleTab, renderSamples } from '#core/web/pages/code-samples.ts';
import { accountOf, defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { hasSetup, createSetupSample } from '#core/web/pages/setup-command.ts';
import { describeGift } from './gift.ts';
import {
  describeDaysLeft,
  describeResolution,
  describePendingDecision,
  describeRefunds,
  findExtraPayments,
  isPaidTwice,
  readOwnOrder,
  getOrderPath,
  describeRefundsTitle,
} from './order-view.ts';

const refreshIntervalSeconds = 10; // without JavaScript, until the first request arrives

type PageSource = Pick<Registry, 'pages'>;

const createKeyForm = (gateway: PageSource) =>
  defineForm({
    path: '/orders/{code}/key',
    fields: { type: 'object' },
    async submit(_input, request) {
      const { database, service } = request.host;
      const issued = await issueFirstKey(database, service.prefix, accountOf(request).id);
      if (issued === undefined) return {};
      // The key appears only in this response, and an automatic refresh would lose it.
      return { key: issued.key, samples: describeSamples(gateway, request, issued.key), refreshSeconds: undefined };
    },
  });

export const createDonePage = (gateway: PageSource): Page => ({
  path: '/orders/{code}/done',
  role: 'account',
  title: 'payments.done.title',
  template: 'payments/done.eta',
  layout: 'plain',
  note: 'payments.order_number',
  styles: ['payments/payments.css'],
  live: {
    topics: ['requests'],
    parts: { first: 'payments/first-request.eta' },
    async values(request) {
      return { first: await readLatestRequest(await readOwnOrder(request), request) };
    },
  },
  async show(request) {
    const order = await readOwnOrder(request);
    if (order.state !== 'paid' && order.state !== 'refunded') return new Redirect(getOrderPath(order));
    const [account] = await readAccounts(request.host.database, 'id', [order.accountId]);
    const first = await readLatestRequest(order, request);
    const gift = await describeGift(order, request);
    return {
      code: order.code,
      key: '',
      hint: account?.key?.hint ?? '',
      isKeyShown: account?.key?.isShown === true,
      isRefunded: order.state === 'refunded',
      isLate: order.isLate,
      ...(gift === undefined
        ? describePass(order, account, request)
        : { kind: gift.kind, paid: gift.title, until: gift.state }),
      isForOthers: gift !== undefined,
      passOn: gift?.passOn,
      extra: describeExtraPayments(order, request),
      refundedMore: gift?.state ?? describeDaysLeft(order, request),
      refunds: describeRefunds(order, request),
      refundsTitle: describeRefundsTitle(order, request),
      samples: describeSamples(gateway, request),
      first,
      home: wellKnownPaths.dashboard,
      connect: wellKnownPaths.connect,
      ...(first === undefined && gift === undefined && { refreshSeconds: refreshIntervalSeconds }),
    };
  },
  forms: [createKeyForm(gateway)],
});

function describeSamples(gateway: PageSource, request: PageRequest, key?: string) {
  const { host } = request;
  const samples = renderSamples(host, ['curl', 'claude-code', 'openai', 'gemini'], key);
  // The setup script asks for the key itself.
  const allSamples = hasSetup(gateway) ? [createSetupTab(request), ...samples] : samples;
  return allSamples.map(({ code, ...sample }) => ({ ...sample, pieces: codePieces(code) }));
}

function createSetupTab({ host, t, userAgent }: PageRequest): SampleTab {
  const { text, value } = createSetupSample(userAgent, host.service.baseUrl);
  const code = `# ${t('payments.done.one_command_does')}\n${text}`;
  return { id: 'setup', name: t('payments.done.one_command'), code, value };
}

/** The latest answered request since the payment shows customers that their tool is connected. */
async function readLatestRequest({ accountId, payments, createdAt }: Order, request: PageRequest) {
  const { paidAt = createdAt } = payments.find(({ outcome }) => outcome === 'activated') ?? {};
  const filter = { accountId, outcome: 'answered', since: paidAt.getTime() } as const;
  const { records } = await listRequests(request.host.database, filter, { limit: 1 });
  const [record] = records;
  if (record === undefined) return undefined;
  return {
    model: record.model ?? record.endpoint ?? '',
    time: request.format.clock(new Date(record.started_at)),
    path: `${wellKnownPaths.dashboard}/requests/${record.id}`,
  };
}

function describePass({ days, period, readAt }: Order, account: AccountRecord | undefined, { t, format }: PageRequest) {
  const active = account === undefined ? undefined : findActivePeriod(account, account.readAt);
  const endsAt = active?.endsAt ?? period?.endsAt;
  const pass = getPassState(period, readAt);
  const activeKey = pass === 'over' ? 'payments.done.other_until' : 'payments.done.until';
  const untilKey = active === undefined ? 'payments.done.ended' : activeKey;
  return {
    kind: 'ok',
    paid: t(`payments.done.${pass}`, { count: days }),
    until: endsAt === undefined ? '' : t(untilKey, { time: format.time(endsAt).text }),
  };
}

function getPassState(period: Order['period'], now: Date): 'added' | 'paid' | 'over' {
  if (period === undefined || period.endsAt <= now) return 'over';
  return period.startsAt > now ? 'added' : 'paid';
}

function describeExtraPayments(order: Order, request: PageRequest) {
  const { t } = request;
  const extra = findExtraPayments(order);
  const refundablePayments = extra.filter((payment) => computeRefundable(order, payment) > 0);
  const openSubjects = new Set(
    order.flags.flatMap((flag) => (isDecisionPromised(flag.kind) && !flag.resolvedAt ? [flag.subject] : [])),
  );
  const pendingPayments = refundablePayments.filter(({ paymentId }) => openSubjects.has(paymentId));
  const keptPayments = refundablePayments.filter(({ paymentId }) => !openSubjects.has(paymentId));
  const texts: string[] = [];
  if (pendingPayments.length > 0) {
    const keys = ['payments.done.second_more', 'payments.done.second_late', 'payments.done.second_no_contact'] as const;
    texts.push(t('payments.done.second_held', { paid: formatRefundable(order, pendingPayments, request) }));
    texts.push(describePendingDecision(order, isDecisionPromised, keys, request));
  }
  if (keptPayments.length > 0) {
    const key = isPaidTwice(extra) ? 'payments.done.second_kept' : 'payments.done.other_kept';
    texts.push(
      t(key, { paid: formatRefundable(order, keptPayments, request) }),
      ...describeResolution(order, isDecisionPromised, request),
    );
  }
  if (texts.length === 0) return undefined;
  return {
    kind: pendingPayments.length > 0 ? 'warn' : 'info',
    title: t(isPaidTwice(extra) ? 'payments.done.second' : 'payments.done.others'),
    text: texts.join(' '),
  };
}

function formatRefundable(order: Order, payments: readonly Payment[], { format }: Pick<PageRequest, 'format'>): string {
  const byCurrency = Map.groupBy(payments, ({ currency }) => currency);
  return Array.from(byCurrency, ([currency, group]) =>
    format.money(
      group.reduce((sum, payment) => sum + computeRefundable(order, payment), 0),
      currency,
    ),
  ).join(' + ');
}
