import { currencySection } from '#core/business/accounts/plans.ts';
import type { ClaimedAlert } from '#core/business/mail/outbox.ts';
import { countChecks, countOpenFlags, readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import {
  findProblems,
  createProblemReader,
  describeProblem,
  renderPlainText,
} from '#core/web/problems/find-problems.ts';
import { moneyProblems } from '#core/web/problems/money-problems.ts';
import type { Alert, ProblemKind, ProblemKinds, ProblemReader } from '#core/web/problems/problem.ts';
import type { Language, Texts } from '#core/web/texts/texts.ts';
import { mailTexts } from '../texts.ts';

export type AlertSource = Partial<ProblemKinds & { readonly pageTexts: readonly Texts[] }>;

/** Returns the reason if no alert is sent. */
export async function composeAlert(
  host: Host,
  { problems = new Map(), pageTexts = [] }: HealthChecks & AlertSource,
  { event, payload }: Pick<ClaimedAlert, 'event' | 'payload'>,
  language: Language,
): Promise<Alert | string> {
  const reader = createProblemReader(pageTexts, host, language);
  if (event === 'day.reported') return reportDay(payload['day'] ?? '', { problems }, reader);
  const kind = problems.values().find(({ alert }) => alert?.event === event);
  if (kind?.alert === undefined) return 'such events are no longer reported';
  return kind.alert.compose?.(payload, reader) ?? composeFromProblems(kind, reader);
}

const maxAlertProblems = 20;

async function composeFromProblems(kind: ProblemKind, reader: ProblemReader): Promise<Alert | string> {
  const found = await kind.find(reader);
  const [first, ...otherProblems] = found.slice(0, maxAlertProblems);
  if (first === undefined) return 'the problem is over';
  const problems = [first, ...otherProblems].map((problem) => describeProblem({ ...problem, kind }));
  return {
    title: first.title,
    text: renderPlainText(first),
    facts: otherProblems.map((problem) => [problem.title, renderPlainText(problem)]),
    path: first.step.path,
    data: { total: found.total ?? found.length, problems },
  };
}

/** These problems are not listed, because the report's figures include open flags and waiting payments. */
const reportedKinds = new Set<ProblemKind>(moneyProblems);

/** Counts problems as the overview does, but leaves out hints. */
async function reportDay(day: string, gateway: ProblemKinds, reader: ProblemReader): Promise<Alert> {
  const { host, format, language } = reader;
  const t = mailTexts.in(language);
  const { database, section } = host;
  const currency = section(currencySection);
  const [revenue, flags, checks, oldest, { problems: found, total }] = await Promise.all([
    readRevenue(database, { currency, timeZone: section(service).time_zone, days: 8 }),
    countOpenFlags(database),
    countChecks(database),
    readOldestUnconfirmed(database),
    findProblems(gateway, reader),
  ]);
  const daySales = revenue.find((entry) => entry.day === day) ?? { amount: 0, orders: 0 };
  const urgent = found.filter(({ severity }) => severity !== 'info');
  const urgentCount = total - (found.length - urgent.length);
  const otherProblems = urgent.filter(({ kind }) => !reportedKinds.has(kind));
  return {
    title:
      urgentCount === 0 ? t('alert.report.title_calm', { day }) : t('alert.report.title', { day, count: urgentCount }),
    text: t(urgentCount === 0 ? 'alert.report.calm' : 'alert.report.text'),
    facts: [
      [t('alert.revenue'), format.money(daySales.amount, currency)],
      [t('alert.orders'), format.number(daySales.orders)],
      ...flags.map(({ kind, count }) => [reader.t(`alert.reason.${kind}`), format.number(count)] as const),
      [t('alert.refunds'), format.number(checks.refunds)],
      ...(oldest === undefined ? [] : [[t('alert.unconfirmed'), format.time(new Date(oldest)).text] as const]),
      ...otherProblems.map((problem) => [problem.title, renderPlainText(problem)] as const),
    ],
    path: '/operator',
    data: {
      day,
      revenue: daySales.amount,
      currency,
      orders: daySales.orders,
      open_flags: Object.fromEntries(flags.map(({ kind, count }) => [kind, count])),
      refunds_pending: checks.refunds,
      oldest_unconfirmed: oldest === undefined ? null : new Date(oldest).toISOString(),
      failing_checks: urgent.flatMap(({ kind, subject = '', pieces }) =>
        kind.name === 'check' ? [{ name: subject, reason: pieces.at(-1)?.text ?? '' }] : [],
      ),
      problems: urgent.map((problem) => describeProblem(problem)),
    },
  };
}
