import { note as reason } from '#core/business/operator-actions/action-kind.ts';
import type { StoredConfiguration } from '#core/config/history/history.ts';
import { diffLines } from '#core/config/history/text-diff.ts';
import { releaseAction, rollbackAction } from '#core/extension/validation/config-actions.ts';
import { type ConfigChanges, getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { object } from '#core/platform/schema.ts';
import { describeFields } from '#core/web/actions/action-fields.ts';
import { runFormAction } from '#core/web/actions/action-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { configurationsPath } from '#core/web/resources/configurations.ts';
import { parseConfigurationNumber, readEffectiveConfiguration, requireChanges } from './list-page.ts';

const maxDiffLines = 400;

export const configurationPage: Page = {
  path: `${configurationsPath}/{number}`,
  role: 'operator',
  title: 'operator.configuration_number',
  template: 'operator/configuration.eta',
  styles: ['operator.css'],
  async show(request) {
    const { t, format } = request;
    const changes = requireChanges(request);
    const target = await requireConfiguration(changes, request);
    const [[previous], serving] = await Promise.all([
      changes.documents.history.list(1, target.id),
      readEffectiveConfiguration(changes),
    ]);
    // If the configuration in effect is unknown, there is nothing to compare with.
    const isServing = serving === undefined || serving.digest === target.digest;
    return {
      number: target.id,
      heading: t('operator.configuration_number', { number: target.id }),
      since: t('operator.configuration_since', { time: format.time(target.servedAt).text }),
      diffToPrevious: previous === undefined ? undefined : describeDiff(diffLines(previous.text, target.text)),
      diffToServing: isServing ? undefined : describeDiff(diffLines(serving.text, target.text)),
      isRelease: isOverriddenFile(target, request),
      back: configurationsPath,
      rows: describeFields(request, rollbackAction, { configuration: false }),
    };
  },
  forms: [
    defineForm({
      fields: object(['note'], { note: reason }),
      once: true,
      async submit({ note }, request) {
        const target = await requireConfiguration(requireChanges(request), request);
        const input = { configuration: target.id, note: note.replaceAll(/\s+/g, ' ').trim() };
        // Rolling back to the content of gateway.yaml puts the file back in charge.
        await runFormAction(request, isOverriddenFile(target, request) ? releaseAction : rollbackAction, '', input);
        return new Redirect(configurationsPath);
      },
    }),
  ],
};

function isOverriddenFile({ digest }: StoredConfiguration, { host }: PageRequest): boolean {
  return getConfigLoadState(host).rollback?.fileDigest === digest;
}

async function requireConfiguration(
  { documents: { history } }: ConfigChanges,
  { params }: PageRequest,
): Promise<StoredConfiguration> {
  const id = parseConfigurationNumber(params['number']);
  const target = id === undefined ? undefined : await history.find(id);
  return (
    target ?? notFound('operator.configuration_unknown', { path: configurationsPath, label: 'operator.configurations' })
  );
}

const lineKinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

function describeDiff(lines: readonly string[]) {
  const shownLines = [...lines.slice(0, maxDiffLines), ...(lines.length > maxDiffLines ? ['  …'] : [])];
  // Templates drop line breaks between tags.
  return shownLines.map((text, index) => ({
    text: index < shownLines.length - 1 ? `${text}\n` : text,
    kind: lineKinds[text.charAt(0)] ?? '',
  }));
}
