import { note as reason } from '#core/business/operator-actions/action-kind.ts';
import type { Served } from '#core/config/history/history.ts';
import { diffLines } from '#core/config/history/text-diff.ts';
import { releaseAction, rollbackAction } from '#core/extension/validation/config-actions.ts';
import { type ConfigChanges, configLoadState } from '#core/extension/validation/load-state.ts';
import { describeFields } from '#core/web/actions/action-fields.ts';
import { act } from '#core/web/actions/action-page.ts';
import { defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { configurationsPath } from '#core/web/resources/configurations.ts';
import { numberOf, readServing, requireChanges } from './list-page.ts';
import { object } from '#core/platform/schema.ts';

/** Maximum lines of a diff; `daypass diff` prints all of them. */
const longestDiff = 400;

/** `/operator/configuration/{number}`: the changes of a configuration, and a form to roll back to it. */
export const configurationPage: Page = {
  path: `${configurationsPath}/{number}`,
  role: 'operator',
  title: 'operator.configuration_number',
  template: 'operator/configuration.eta',
  styles: ['operator.css'],
  async show(request) {
    const { t, format } = request;
    const changes = requireChanges(request);
    const served = await requireServed(changes, request);
    const [[before], serving] = await Promise.all([changes.documents.history.list(1, served.id), readServing(changes)]);
    const isServing = serving === undefined || serving.digest === served.digest;
    return {
      number: served.id,
      heading: t('operator.configuration_number', { number: served.id }),
      since: t('operator.configuration_since', { time: format.time(served.servedAt).text }),
      changed: before === undefined ? undefined : cut(diffLines(before.text, served.text)),
      change: isServing ? undefined : cut(diffLines(serving.text, served.text)),
      isRelease: isFile(served, request),
      back: configurationsPath,
      rows: describeFields(request, rollbackAction, { configuration: false }),
    };
  },
  forms: [
    defineForm({
      fields: object(['note'], { note: reason }),
      once: true,
      async submit({ note }, request) {
        const served = await requireServed(requireChanges(request), request);
        const words = { configuration: served.id, note: note.replaceAll(/\s+/g, ' ').trim() };
        // Rolling back to the content of gateway.yaml releases the file again.
        await act(request, isFile(served, request) ? releaseAction : rollbackAction, '', words);
        return new Redirect(configurationsPath);
      },
    }),
  ],
};

/** True if this is gateway.yaml's content while another configuration overrides it. */
function isFile({ digest }: Served, { host }: PageRequest): boolean {
  return configLoadState(host).rollback?.fileDigest === digest;
}

async function requireServed({ documents: { history } }: ConfigChanges, { params }: PageRequest): Promise<Served> {
  const id = numberOf(params['number']);
  const served = id === undefined ? undefined : await history.find(id);
  return (
    served ?? notFound('operator.configuration_unknown', { path: configurationsPath, label: 'operator.configurations' })
  );
}

const kindOfSign: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

function cut(lines: readonly string[]) {
  const shown = [...lines.slice(0, longestDiff), ...(lines.length > longestDiff ? ['  …'] : [])];
  // Templates drop line breaks between tags.
  return shown.map((text, index) => ({
    text: index < shown.length - 1 ? `${text}\n` : text,
    kind: kindOfSign[text.charAt(0)] ?? '',
  }));
}
