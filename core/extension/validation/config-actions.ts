import { ActionRefused, defineAction, note } from '#core/business/operator-actions/action-kind.ts';
import { describeInText } from '#core/business/operator-actions/member-describers.ts';
import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { RollbackRefused } from '#core/config/history/history.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { integer, object } from '#core/platform/schema.ts';
import { type ConfigChanges, getConfigLoadState } from './load-state.ts';
import { VariantRefused } from './variant-rules.ts';

const tells = { configuration: describeInText('operator.configuration_number', 'number') };

export const rollbackAction = defineAction({
  name: 'configuration.rollback',
  subject: configurationSubject,
  summary: 'put an earlier configuration in effect instead of gateway.yaml, until the file changes',
  input: object(['configuration', 'note'], {
    configuration: integer({ minimum: 1 }, 'Its number in the history.'),
    note,
  }),
  tells,
  perform: (host, _subject, input, operator) =>
    changeConfig(host, (changes) => changes.rollBack(input.configuration, operator.name, input.note)),
});

export const releaseAction = defineAction({
  name: 'configuration.release',
  subject: configurationSubject,
  summary: 'put gateway.yaml in effect again, if an earlier configuration is in effect',
  input: object([], {
    configuration: integer({ minimum: 1 }, 'The number that gateway.yaml has in the history, for the record.'),
    note,
  }),
  tells,
  perform: (host) => changeConfig(host, (changes) => changes.release()),
});

/** @throws ActionRefused with the reason why the configuration cannot be served */
export async function changeConfig<T>(host: Host, work: (changes: ConfigChanges) => Promise<T>): Promise<T> {
  const { changes } = getConfigLoadState(host);
  if (changes === undefined) throw new ActionRefused('The gateway is still starting. Try again in a moment.');
  try {
    return await work(changes);
  } catch (error) {
    if (error instanceof VariantRefused || error instanceof RollbackRefused || error instanceof ConfigError)
      throw new ActionRefused(error.message);
    throw error;
  }
}
