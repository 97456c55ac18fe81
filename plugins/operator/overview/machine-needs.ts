import { modelsWithoutBackup } from '#core/config/catalog/backups.ts';
import type { Canary } from '#core/config/history/canaries.ts';
import type { Rollback } from '#core/config/history/history.ts';
import { canaryTakenBack, configLoadState } from '#core/extension/validation/load-state.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type CheckedHealth, readHealth } from '#core/gateway/health/read-health.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { type ModelHealth, severityOf } from '#core/business/model-health/model-health.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import { describeFaultText } from '#core/web/pages/fault-text.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { overviewReadings } from '../readings.ts';
import { nameOfCheck } from '../check-name.ts';
import { describeBreaker } from '../routes/route-rows.ts';
import { type Need, readEmphasis, type TextPiece } from './need.ts';
import { findRejectedKeys, type RejectedKey } from './rejected-keys.ts';
import type { OverviewSources } from '../sources.ts';

/** Characters of a message of an upstream, a file or a job. */
const longestReason = 120;
/** Models, and upstreams with open breakers, that are listed one by one; a line tells how many more there are. */
const listed = 10;
/** Routes of a model whose breakers are explained in its line. */
const routesOfNeed = 2;

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** What is wrong with models, the machine and the configuration: models in trouble first, each kind the oldest first. */
export async function readMachineNeeds(
  gateway: Pick<Registry, 'healthChecks'>,
  request: PageRequest,
  { models, statuses, recent }: OverviewSources,
): Promise<Need[]> {
  const [checks, queue] = await Promise.all([
    readHealth(gateway, request.host),
    overviewReadings(request.host)
      .queue.get()
      .catch(() => undefined),
  ]);
  const troubled = models
    .filter(({ state }) => severityOf(state) < severityOf('working'))
    .toSorted((one, other) => severityOf(one.state) - severityOf(other.state) || (one.since ?? 0) - (other.since ?? 0));
  const state = configLoadState(request.host);
  const { refusal, rollback } = state;
  const worse = canaryTakenBack(state, request.host.now());
  // The breakers of a model in trouble are why it is: they have no lines of their own.
  const explained = new Set(troubled.flatMap(({ routes }) => routes.map(({ route }) => route)));
  return [
    ...troubled.slice(0, listed).map((model) => describeModel(model, request)),
    ...(troubled.length > listed ? [describeMore(troubled.slice(listed), request)] : []),
    ...checks.filter((checked) => !checked.ok).map((checked) => describeFailing(checked, request)),
    ...findRejectedKeys(statuses, recent).map((key) => describeRejectedKey(key, request)),
    ...(refusal === undefined ? [] : [describeRefusal(refusal, request)]),
    ...(rollback === undefined ? [] : [describeRollback(rollback, request)]),
    ...(worse === undefined ? [] : [describeWorse(worse, request)]),
    ...describeBreakers(
      [...statuses.values()].filter(({ route }) => !explained.has(route)),
      request,
    ),
    ...describeFailedJobs(queue?.failed ?? [], request),
    ...describeBackups(request),
  ];
}

function describeModel(model: ModelHealth, reader: Reader): Need {
  const { t, host } = reader;
  const { id, trouble, traffic, since } = model;
  const status = describeModelState(model, reader, host.now());
  const counts = { failed: traffic?.failed ?? 0, all: (traffic?.failed ?? 0) + (traffic?.answered ?? 0) };
  const cause = model.state === 'unknown' ? 'unknown' : (trouble?.cause ?? 'failing');
  const text = t(`operator.model_need.${cause}`, { model: id });
  const seen = counts.all === 0 ? '' : ` ${t('operator.model_need_seen', counts)}`;
  return {
    status: model.state === 'unknown' ? { ...status, text: t('operator.model_unknown') } : status,
    // Appended separately, so that an asterisk of an upstream is not read as emphasis.
    pieces: [...readEmphasis(text), { text: seen }, { text: describeRoutesOf(model, reader) }],
    since: trouble === undefined ? undefined : sinceOf(since ?? host.now(), reader),
    step: {
      path: '/operator/routes',
      text: t('operator.routes'),
      label: t('operator.model_need_label', { model: id }),
    },
  };
}

/** Why its routes take no requests: " openai/gpt-6-sol: Open, next probe in 22 s (503 overloaded)." */
function describeRoutesOf({ routes }: ModelHealth, reader: Reader): string {
  const open = routes.filter(({ state }) => state !== 'closed');
  return open
    .slice(0, routesOfNeed)
    .map((status) => ` ${status.route}: ${describeBreaker(status, reader).text}${reasonOf(status, reader)}.`)
    .join('');
}

function reasonOf({ reason }: RouteStatus, { t }: Reader): string {
  return reason === null ? '' : inBrackets(shorten(describeFaultText(reason, t)));
}

function describeMore(models: readonly ModelHealth[], reader: Reader): Need {
  const { t } = reader;
  const isDown = models.some(({ state }) => state === 'down');
  return {
    status: { kind: isDown ? 'bad' : 'warn', text: t('operator.model_more') },
    pieces: [{ text: t('operator.model_more_text', { count: models.length }) }],
    since: sinceOf(Math.min(...models.map(({ since }) => since ?? Infinity), reader.host.now()), reader),
    step: { path: '/operator/routes', text: t('operator.routes'), label: t('operator.routes') },
  };
}

type FailingCheck = Extract<CheckedHealth, { ok: false }>;

function describeFailing({ name, reason, since }: FailingCheck, reader: Reader): Need {
  const { t } = reader;
  return {
    status: { kind: 'bad', text: t('operator.check_fails') },
    pieces: [{ text: nameOfCheck(name, t), isStrong: true }, { text: `: ${t(reason)}` }],
    since: sinceOf(since, reader),
    step:
      name === 'probes'
        ? { path: '/operator/probes', text: t('operator.probes'), label: t('operator.probes') }
        : { path: '/operator/health', text: t('operator.health'), label: t('operator.check_label') },
  };
}

function describeRejectedKey({ upstream, at, error }: RejectedKey, reader: Reader): Need {
  const { t } = reader;
  const pieces: TextPiece[] = readEmphasis(t('operator.key_rejected_text', { upstream }));
  const words = shorten(error?.replace(/^key: /, '') ?? '');
  // Appended separately, so that an asterisk in it is not read as emphasis.
  if (words !== '') pieces.push({ text: inBrackets(words) });
  return {
    status: { kind: 'bad', text: t('operator.key_rejected') },
    pieces,
    since: sinceOf(at, reader),
    step: {
      path: '/operator/routes',
      text: t('operator.routes'),
      label: t('operator.key_rejected_label', { upstream }),
    },
  };
}

function describeRefusal({ at, reason }: { readonly at: number; readonly reason: string }, reader: Reader): Need {
  const { t } = reader;
  return {
    status: { kind: 'bad', text: t('operator.configuration_refused') },
    pieces: [...readEmphasis(t('operator.refusal_text')), { text: ' ' }, { text: shorten(reason), isEnglish: true }],
    since: sinceOf(at, reader),
    step: { path: '/operator/health', text: t('operator.health'), label: t('operator.refusal') },
  };
}

/** A canary that was taken back by itself. */
function describeWorse({ id, end }: Canary, reader: Reader): Need {
  const { t } = reader;
  return {
    status: { kind: 'bad', text: t('operator.canary') },
    pieces: [
      ...readEmphasis(t('operator.canary_state.worse', { number: id })),
      { text: inBrackets(shorten(t(end?.reason ?? ''))) },
    ],
    since: sinceOf(end?.at.getTime() ?? 0, reader),
    step: { path: '/operator/configuration', text: t('operator.configurations'), label: t('operator.configurations') },
  };
}

function describeRollback(rollback: Rollback, reader: Reader): Need {
  const { createdAt, operator, configurationId, note = '', canary } = rollback;
  const { t } = reader;
  const text =
    canary === undefined
      ? t('operator.rollback_text', { operator, number: configurationId })
      : t('operator.canary_full_text', { operator, number: configurationId, canary });
  return {
    status: {
      kind: 'warn',
      text: t(canary === undefined ? 'operator.configuration_taken_back' : 'operator.configuration_behind'),
    },
    pieces: [...readEmphasis(text), { text: note === '' ? '' : inBrackets(shorten(note)) }],
    since: sinceOf(createdAt.getTime(), reader),
    step: { path: '/operator/health', text: t('operator.health'), label: t('operator.health') },
  };
}

/** Breakers that are not closed, by upstream: when one fails, all of its routes do. */
function describeBreakers(statuses: readonly RouteStatus[], reader: Reader): Need[] {
  const open = statuses.filter(({ state }) => state !== 'closed');
  const openedAt = ({ open_since: since }: RouteStatus) =>
    since === undefined ? reader.host.now() : Date.parse(since);
  const byUpstream = Map.groupBy(
    open.toSorted((one, other) => openedAt(one) - openedAt(other)),
    ({ route }) => route.slice(0, route.indexOf('/')),
  );
  return [...byUpstream].slice(0, listed).flatMap(([upstream, [oldest, ...others]]): Need[] => {
    if (oldest === undefined) return [];
    const { t } = reader;
    const name = others.length === 0 ? oldest.route : upstream;
    const text = t('operator.breaker_need', { count: others.length + 1, name });
    return [
      {
        status: { kind: 'warn', text: t('operator.breaker') },
        pieces: [
          ...readEmphasis(text),
          { text: ` ${describeBreaker(oldest, reader).text}` },
          { text: reasonOf(oldest, reader) },
        ],
        since: sinceOf(openedAt(oldest), reader),
        step: {
          path: '/operator/routes',
          text: t('operator.routes'),
          label: t('operator.key_rejected_label', { upstream: name }),
        },
      },
    ];
  });
}

function describeFailedJobs(
  failed: readonly { readonly name: string; readonly reason: string; readonly failedAt: number }[],
  reader: Reader,
): Need[] {
  const [latest] = failed;
  if (latest === undefined) return [];
  const { t } = reader;
  return [
    {
      status: { kind: 'warn', text: t('operator.jobs_state.failed') },
      pieces: [
        ...readEmphasis(t('operator.jobs_need', { count: failed.length, name: latest.name })),
        { text: inBrackets(shorten(t(describeFailure(latest.reason)))) },
      ],
      since: sinceOf(failed.at(-1)?.failedAt ?? latest.failedAt, reader),
      step: { path: '/operator/health', text: t('operator.health'), label: t('operator.failed_jobs') },
    },
  ];
}

/** Models with only one upstream: nothing is wrong yet, and customers were promised a backup. */
function describeBackups(reader: Reader): Need[] {
  const { t, host } = reader;
  const alone = modelsWithoutBackup(host.catalog.models).map(({ publicName }) => publicName);
  if (alone.length === 0) return [];
  const more = alone.length - listed;
  const models = [...alone.slice(0, listed), ...(more > 0 ? [t('operator.backup_more', { count: more })] : [])];
  return [
    {
      status: { kind: 'info', text: t('operator.backup') },
      pieces: readEmphasis(t('operator.backup_need', { count: alone.length, models: models.join(', ') })),
      // As long as gateway.yaml says so, which nobody needs to know.
      since: undefined,
      step: { path: '/operator/routes', text: t('operator.routes'), label: t('operator.backup_label') },
    },
  ];
}

/** @param since epoch ms */
function sinceOf(since: number, { format, host }: Reader) {
  return format.relative(new Date(since), new Date(host.now()));
}

/** Words that are added to a sentence; after a colon where they have brackets already. */
function inBrackets(words: string): string {
  return words.includes('(') ? `: ${words}` : ` (${words})`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longestReason ? `${line.slice(0, longestReason - 1)}…` : line;
}
