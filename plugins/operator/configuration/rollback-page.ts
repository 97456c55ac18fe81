import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { RollbackRefused, type Served } from '#core/config/history/history.ts';
import { diffLines } from '#core/config/history/text-diff.ts';
import { type ConfigChanges, configLoadState } from '#core/extension/validation/load-state.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { configurationsPath, configurationSubject, numberOf, readServing, requireChanges } from './list-page.ts';
import { object, string } from '#core/platform/schema.ts';

/** Characters of a note. */
const longestNote = 500;
/** Lines of a comparison; `daypass diff` prints all of them. */
const longestDiff = 400;

/** `/operator/configuration/{number}`: what a configuration changed, and the way back to it. */
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
    const [[before], serving] = await Promise.all([changes.history.list(1, served.id), readServing(changes)]);
    const isServing = serving === undefined || serving.digest === served.digest;
    return {
      number: served.id,
      heading: t('operator.configuration_number', { number: served.id }),
      since: t('operator.configuration_since', { time: format.time(served.servedAt).text }),
      changed: before === undefined ? undefined : cut(diffLines(before.text, served.text)),
      change: isServing ? undefined : cut(diffLines(serving.text, served.text)),
      isRelease: isFile(served, request),
      back: configurationsPath,
    };
  },
  forms: [
    defineForm({
      fields: object(['note'], { note: string({ minLength: 1, maxLength: longestNote, pattern: '\\S' }) }),
      once: true,
      async submit({ note }, request) {
        const changes = requireChanges(request);
        await goBack(changes, await requireServed(changes, request), note.replaceAll(/\s+/g, ' ').trim(), request);
        return new Redirect(configurationsPath);
      },
    }),
  ],
};

/** Going back to what the file says releases it. */
async function goBack(changes: ConfigChanges, served: Served, note: string, request: PageRequest): Promise<void> {
  const { id, email, name } = accountOf(request);
  const operator = { id, name: email ?? name };
  const isRelease = isFile(served, request);
  const action = isRelease ? 'configuration.release' : 'configuration.rollback';
  const words = { configuration: served.id, note };
  try {
    await recordAction(request.host.database, { operator, action, subject: configurationSubject, words }, () =>
      isRelease ? changes.release() : changes.takeBack(served.id, operator.name, note),
    );
  } catch (error) {
    if (!(error instanceof RollbackRefused || error instanceof ConfigError)) throw error;
    throw new FieldErrors({ '': 'operator.configuration_not_taken_back' }, { reason: error.message });
  }
}

/** True for what gateway.yaml says while something else serves in its place. */
function isFile({ digest }: Served, { host }: PageRequest): boolean {
  return configLoadState(host).rollback?.fileDigest === digest;
}

async function requireServed({ history }: ConfigChanges, { params }: PageRequest): Promise<Served> {
  const id = numberOf(params['number']);
  const served = id === undefined ? undefined : await history.find(id);
  if (served !== undefined) return served;
  throw new PageError(404, 'operator.configuration_unknown', {
    action: { path: configurationsPath, label: 'operator.configurations' },
  });
}

const kindOfSign: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

function cut(lines: readonly string[]) {
  const shown = [...lines.slice(0, longestDiff), ...(lines.length > longestDiff ? ['  …'] : [])];
  // Templates leave out line breaks between tags.
  return shown.map((text, index) => ({
    text: index < shown.length - 1 ? `${text}\n` : text,
    kind: kindOfSign[text.charAt(0)] ?? '',
  }));
}
