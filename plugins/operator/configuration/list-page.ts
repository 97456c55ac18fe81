import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { type Rollback, type StoredConfiguration, createVariantName } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type ConfigChanges, getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { type TableSection, omitEmptySections } from '#core/web/pages/table.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { configurations, configurationsPath } from '#core/web/resources/configurations.ts';
import { fieldTable, type ShownField } from '#core/web/resources/field.ts';

const pageSize = 25;
const maxActions = 20;

export const createConfigurationsPage = (gateway: Pick<Registry, 'variantSource'>): Page => ({
  path: configurationsPath,
  role: 'operator',
  title: 'operator.configurations',
  within: '/operator/health',
  template: 'operator/configurations.eta',
  async show(request) {
    const { host, query, t } = request;
    const before = parseConfigurationNumber(query['before']);
    const changes = requireChanges(request);
    const [rows, serving, actions, variants] = await Promise.all([
      changes.documents.history.list(pageSize + 1, before),
      readEffectiveConfiguration(changes),
      listActions(host.database, { subject: configurationSubject.name, limit: maxActions }),
      gateway.variantSource?.load(),
    ]);
    const documents = rows.slice(0, pageSize);
    const oldest = documents.at(-1);
    return {
      rollback: describeRollback(request),
      rollbackTitle: t(chooseRollbackTitle(getConfigLoadState(host).rollback)),
      notice: await variants?.notice(request),
      table: describeDocuments(documents, before === undefined ? serving?.digest : undefined, request),
      older: rows.length > pageSize && oldest !== undefined ? `${configurationsPath}?before=${oldest.id}` : '',
      isFirst: before === undefined,
      newest: configurationsPath,
      text: t('operator.configurations_text'),
      sections: omitEmptySections([describeActionTable(actions, request, maxActions)]),
    };
  },
});

/** @throws PageError 503 while the gateway is starting */
export function requireChanges({ host }: PageRequest) {
  const { changes } = getConfigLoadState(host);
  if (changes === undefined) throw new PageError(503, 'operator.configurations_starting');
  return changes;
}

export function chooseRollbackTitle(rollback: Rollback | undefined): string {
  return rollback?.variant === undefined ? 'operator.configuration_taken_back' : 'operator.configuration_behind';
}

/** If this instance has no configuration yet, returns the latest recorded one. */
export async function readEffectiveConfiguration({
  documents: { history },
  serving,
}: ConfigChanges): Promise<Pick<StoredConfiguration, 'text' | 'digest'> | undefined> {
  return serving() ?? (await history.list(1))[0];
}

export function parseConfigurationNumber(text: string | undefined): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : undefined;
}

function describeRollback({ host, t, format }: PageRequest): string {
  const { rollback } = getConfigLoadState(host);
  if (rollback === undefined) return '';
  const { operator, configurationId, createdAt, variant } = rollback;
  return t(variant === undefined ? 'operator.configuration_rolled_back' : 'operator.variant_became_full', {
    operator,
    variant: variant === undefined ? '' : createVariantName(variant),
    number: configurationId,
    time: format.time(createdAt).text,
  });
}

function describeDocuments(
  documents: readonly StoredConfiguration[],
  servingDigest: string | undefined,
  request: PageRequest,
): TableSection {
  const servingDocument = documents.find(({ digest }) => digest === servingDigest);
  const state: ShownField<StoredConfiguration> = {
    name: 'state',
    type: 'state',
    at: 'end',
    value: ({ id }) => (id === servingDocument?.id ? 'serving' : undefined),
    cell: ({ id }, { t }) => (id === servingDocument?.id ? { text: t('operator.serving'), kind: 'ok' } : undefined),
  };
  const fields = [...configurations.view.page, state];
  return fieldTable(request, 'configurations', 'operator.configurations', documents, fields);
}
