import { readModelStates } from '#core/business/model-health/model-health.ts';
import { translateChoice } from '#core/business/operator-actions/member-describers.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { Rollback } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { readQueueState } from '#core/gateway/health/job-gauges.ts';
import { readHealth } from '#core/gateway/health/read-health.ts';
import { readWorkers, type WorkerStatus } from '#core/gateway/health/worker-status.ts';
import { readUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import { version } from '#core/platform/version.ts';
import { listLinksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { omitEmptySections } from '#core/web/pages/table.ts';
import { translateCheckName } from '#core/web/problems/check-problems.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { readSubjectNames, readSubjectCells } from '#core/web/resources/describe-action.ts';
import { defineView, fieldTable } from '#core/web/resources/field.ts';
import { chooseRollbackTitle } from '../configuration/list-page.ts';
import { describeJobs, describeJournal, type FactsCard, translateFacts } from '../overview/cards.ts';
import { describeFailedJobs, describeUnauthenticated, maxBlocks, maxRows } from './tables.ts';

const path = '/operator/health';
const refreshSeconds = 10;
const unauthenticatedRangeMs = 86_400_000;

export const createHealthPage = (gateway: Pick<Registry, 'statusReports' | 'healthChecks' | 'pages'>): Page => ({
  path,
  role: 'operator',
  title: 'operator.health',
  navigation: { label: 'operator.health', icon: 'pulse', order: 50 },
  template: 'operator/health.eta',
  async show(request) {
    const { host, t, format, language } = request;
    const [checks, jobs, versions, queue, actions, { blocks }] = await Promise.all([
      describeChecks(gateway, request),
      describeJobs(request),
      describeVersions(request),
      readQueueState(host).catch(() => undefined),
      listActions(host.database, { limit: maxRows }),
      readUnauthenticated(host.database.records, host.now() - unauthenticatedRangeMs, maxBlocks),
    ]);
    const reader = { t, format, host, language, names: await readSubjectNames(request, actions) };
    return {
      cards: [checks, describeJournal(gateway, request), jobs, describeConfiguration(request), versions],
      sections: omitEmptySections([
        fieldTable(request, 'workers', 'operator.workers', readWorkers(gateway, host), workers.page),
        describeFailedJobs(request, queue?.failed ?? []),
        describeUnauthenticated(request, blocks),
        describeActionTable(actions, reader, maxRows, await readSubjectCells(request, actions, reader.names)),
      ]),
      links: listLinksWithin(gateway, path, t, host),
      refusal: getConfigLoadState(host).refusal?.reason ?? '',
      asOf: format.clock(new Date(host.now())),
    };
  },
  live: {
    topics: ['health'],
    everySeconds: refreshSeconds,
    parts: { 'operator-cards': 'operator/cards.eta', 'operator-health': 'operator/health-tables.eta' },
  },
});

async function describeChecks(
  gateway: Pick<Registry, 'statusReports' | 'healthChecks'>,
  { host, t, format }: PageRequest,
): Promise<FactsCard> {
  const [checks, states] = await Promise.all([readHealth(gateway, host), readModelStates(gateway, host)]);
  const lag = host.database.records.replica?.lag;
  const downCount = [...states.values()].filter((state) => state === 'down').length;
  // A model that is down does not fail a check, because the gateway itself is ready.
  const passing =
    downCount === 0
      ? { kind: 'ok', text: t('operator.checks_pass') }
      : { kind: 'bad', text: t('operator.checks_pass_without_models', { count: downCount }) };
  return {
    title: t('operator.checks'),
    status: checks.every(({ ok }) => ok) ? passing : { kind: 'bad', text: t('operator.checks_fail') },
    facts: [
      ...checks.map((checked) => ({
        name: translateCheckName(checked.name, t),
        value: checked.ok ? describeCheckResult(checked.kind, t) : t(checked.reason),
      })),
      ...(lag === undefined ? [] : [{ name: t('operator.replica_lag'), value: format.duration(lag).text }]),
      { name: t('operator.models_down'), value: format.number(downCount), path: '/operator/routes' },
    ],
  };
}

/** @param kind kind of dependency: `embedded`, `external`, `memory` or `redis` */
function describeCheckResult(kind: string | undefined, t: PageRequest['t']): string {
  if (kind === undefined) return t('operator.check_passes');
  return t('operator.check_passes_with', { kind: translateChoice('operator.check_kind', kind, t) });
}

function describeConfiguration({ host, t, format }: PageRequest): FactsCard {
  const { loadedAt, refusal, postponed, rollback } = getConfigLoadState(host);
  const { models, unavailable } = host.catalog;
  const rollbackTitle = rollback === undefined ? '' : chooseRollbackTitle(rollback);
  const time = (at: number) => format.time(new Date(at)).text;
  const describeRollback = ({ operator, createdAt }: Rollback) =>
    t('operator.taken_back_by', { operator, time: time(createdAt.getTime()) });
  return {
    title: t('operator.configuration'),
    status: describeConfigurationStatus(refusal !== undefined, rollbackTitle, t),
    facts: translateFacts(t, [
      ['operator.loaded', time(loadedAt)],
      ['operator.refused', refusal && time(refusal.refusedAt)],
      [rollbackTitle, rollback && describeRollback(rollback)],
      ['operator.postponed', postponed.length === 0 ? undefined : postponed.join(', ')],
      ['operator.models', format.number(models.length)],
      ['operator.models_off', unavailable.length === 0 ? undefined : unavailable.map(({ id }) => id).join(', ')],
    ]),
  };
}

function describeConfigurationStatus(isRefused: boolean, rollbackTitle: string, t: PageRequest['t']) {
  if (isRefused) return { kind: 'bad', text: t('operator.configuration_refused') };
  if (rollbackTitle !== '') return { kind: 'warn', text: t(rollbackTitle) };
  return { kind: 'ok', text: t('operator.configuration_current') };
}

async function describeVersions({ host, t, format }: PageRequest): Promise<FactsCard> {
  const [row] = await host.database.query<{ server_version: string }>('show server_version');
  return {
    title: t('operator.versions'),
    status: undefined,
    facts: translateFacts(t, [
      ['operator.gateway', version],
      ['Node.js', process.versions.node],
      ['PostgreSQL', row?.server_version],
      ['operator.instance', host.instance],
      ['operator.uptime', format.duration(process.uptime() * 1_000).text],
      ['operator.memory', format.bytes(process.memoryUsage.rss()).text],
    ]),
  };
}

const workers = defineView<WorkerStatus>()({
  worker: {
    type: 'text',
    at: 'title',
    value: ({ worker }) => String(worker),
    cell: ({ worker }, { t }) => `${t('operator.worker')} ${worker}`,
  },
  state: {
    type: 'state',
    at: 'note',
    texts: 'operator.worker_state',
    kinds: { ready: 'ok', starting: 'waiting', ended: 'bad' },
    of: 'state',
  },
  process: { type: 'id', at: 'hide', value: ({ process: pid }) => (pid === undefined ? pid : String(pid)) },
  crashes: { type: 'count', isNamed: true, at: 'note-end', of: 'crashes' },
  started: { type: 'time', at: 'end', value: ({ since }) => (since === undefined ? since : new Date(since)) },
});
