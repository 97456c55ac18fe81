import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { type Rollback, type Served, variantName } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type ConfigChanges, configLoadState } from '#core/extension/validation/load-state.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { actionTable } from '#core/web/resources/action-table.ts';
import { type TableSection, withRows } from '#core/web/pages/table.ts';
import { configurations, configurationsPath } from '#core/web/resources/configurations.ts';
import { fieldTable, type ShownField } from '#core/web/resources/field.ts';

const pageSize = 25;
const listedActions = 20;

/** `/operator/configuration`: configurations that were in effect, newest first. */
export const configurationsPage = (gateway: Pick<Registry, 'variantSource'>): Page => ({
  path: configurationsPath,
  role: 'operator',
  title: 'operator.configurations',
  within: '/operator/health',
  template: 'operator/configurations.eta',
  async show(request) {
    const { host, query, t } = request;
    const before = numberOf(query['before']);
    const changes = requireChanges(request);
    const [found, serving, actions, variants] = await Promise.all([
      changes.documents.history.list(pageSize + 1, before),
      readServing(changes),
      listActions(host.database, { subject: configurationSubject.name, limit: listedActions }),
      gateway.variantSource?.load(),
    ]);
    const shown = found.slice(0, pageSize);
    const last = shown.at(-1);
    return {
      rollback: describeRollback(request),
      rollbackTitle: t(titleOfRollback(configLoadState(host).rollback)),
      notice: await variants?.notice(request),
      table: tableOf(shown, before === undefined ? serving?.digest : undefined, request),
      older: found.length > pageSize && last !== undefined ? `${configurationsPath}?before=${last.id}` : '',
      isFirst: before === undefined,
      newest: configurationsPath,
      text: t('operator.configurations_text'),
      sections: withRows([actionTable(actions, request)]),
    };
  },
});

/** History of the running gateway. @throws PageError while it starts */
export function requireChanges({ host }: PageRequest) {
  const { changes } = configLoadState(host);
  if (changes === undefined) throw new PageError(503, 'operator.configurations_starting');
  return changes;
}

/** Title key of the notice about what is in effect instead of gateway.yaml. */
export function titleOfRollback(rollback: Rollback | undefined): string {
  return rollback?.variant === undefined ? 'operator.configuration_taken_back' : 'operator.configuration_behind';
}

/** The configuration in effect; the latest recorded one if this instance does not know it. */
export async function readServing({
  documents: { history },
  serving,
}: ConfigChanges): Promise<Pick<Served, 'text' | 'digest'> | undefined> {
  return serving() ?? (await history.list(1))[0];
}

/** Parses a configuration number; undefined for anything else. */
export function numberOf(text: string | undefined): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : undefined;
}

function describeRollback({ host, t, format }: PageRequest): string {
  const { rollback } = configLoadState(host);
  if (rollback === undefined) return '';
  const { operator, configurationId, createdAt, variant } = rollback;
  return t(variant === undefined ? 'operator.configuration_rolled_back' : 'operator.variant_became_full', {
    operator,
    variant: variant === undefined ? '' : variantName(variant),
    number: configurationId,
    time: format.time(createdAt).text,
  });
}

/** @param serving digest of the configuration in effect, if it is among the newest */
function tableOf(some: readonly Served[], serving: string | undefined, request: PageRequest): TableSection {
  const now = some.find(({ digest }) => digest === serving);
  const state: ShownField<Served> = {
    name: 'state',
    type: 'state',
    at: 'end',
    value: ({ id }) => (id === now?.id ? 'serving' : undefined),
    cell: ({ id }, { t }) => (id === now?.id ? { text: t('operator.serving'), kind: 'ok' } : undefined),
  };
  const fields = [...configurations.view.page, state];
  return fieldTable(request, 'configurations', 'operator.configurations', some, fields);
}
