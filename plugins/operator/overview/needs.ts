import type { PageRequest } from '#core/web/pages/page.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type CheckedHealth, readHealth } from '#core/gateway/health/read-health.ts';
import { listOpenFlags, type OpenFlag, severityOf } from '#core/business/payments/flags.ts';
import type { RejectedKey } from './rejected-keys.ts';

/** Flags on the overview; the others are in the list of orders. */
const listedFlags = 10;
/** Characters of an upstream's message. */
const longestError = 120;

/**
 * What needs the operator: failing health checks, rejected keys of upstreams, then flags of orders, the worst first, then the oldest.
 */
export async function describeNeeds(
  gateway: Pick<Registry, 'healthChecks'>,
  request: PageRequest,
  rejectedKeys: readonly RejectedKey[],
) {
  const [{ flags, total }, checks] = await Promise.all([
    listOpenFlags(request.host.database, listedFlags),
    readHealth(gateway, request.host),
  ]);
  const failing = checks.filter((checked) => !checked.ok);
  return {
    checkNeeds: failing.map((check) => describeFailing(check, request)),
    keyNeeds: rejectedKeys.map((key) => describeRejectedKey(key, request)),
    needs: flags.map((flag) => describeNeed(flag, request)),
    needsTotal: request.t('operator.needs_open', { count: total + rejectedKeys.length + failing.length }),
    moreNeeds: total > flags.length ? request.t('operator.needs_more', { count: total - flags.length }) : '',
  };
}

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;
type FailingCheck = Extract<CheckedHealth, { ok: false }>;

function describeFailing({ name, reason, since }: FailingCheck, { t, format, host }: Reader) {
  return {
    name,
    reason,
    status: { kind: 'bad', text: t('operator.check_fails') },
    since: format.relative(new Date(since), new Date(host.now())),
  };
}

function describeRejectedKey({ upstream, at, error }: RejectedKey, { t, format, host }: Reader) {
  const pieces: TextPiece[] = readEmphasis(t('operator.key_rejected_text', { upstream }));
  const words = error?.replace(/^key: /, '') ?? '';
  const shown = words.length > longestError ? `${words.slice(0, longestError - 1)}…` : words;
  // Appended separately, so that an asterisk in it is not read as emphasis.
  if (shown !== '') pieces.push({ text: ` (${shown})`, isStrong: false });
  return {
    upstream,
    status: { kind: 'bad', text: t('operator.key_rejected') },
    pieces,
    since: format.relative(new Date(at), new Date(host.now())),
  };
}

/** One flag, ready to be printed. */
export function describeNeed(flag: OpenFlag, { t, format, host }: Reader) {
  const { id, kind, order, createdAt } = flag;
  return {
    id,
    status: { kind: severityOf(kind), text: t(`operator.flag.${kind}`) },
    order: order?.code ?? '',
    buyer: order?.buyer ?? t('operator.need_without_order'),
    pieces: readEmphasis(describeMoney(flag, { t, format })),
    since: format.relative(createdAt, new Date(host.now())),
    path: `/operator/flags/${id}`,
  };
}

function describeMoney({ kind, order, money }: OpenFlag, { t, format }: Pick<Reader, 't' | 'format'>) {
  const values = {
    count: order?.days ?? 0,
    price: order === undefined ? '' : format.money(order.price, order.currency),
    amount: money === undefined ? '' : format.money(money.amount, money.currency),
  };
  return t(money === undefined ? 'operator.flag_text.without_amount' : `operator.flag_text.${kind}`, values);
}

/** A piece of a sentence for a template. */
interface TextPiece {
  readonly text: string;
  readonly isStrong: boolean;
}

/** Splits a text at `*`, which stands around what matters most in it: `paid *Rp 59.000* of *Rp 95.000*`. */
export function readEmphasis(text: string): TextPiece[] {
  return text
    .split('*')
    .map((piece, index) => ({ text: piece, isStrong: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
