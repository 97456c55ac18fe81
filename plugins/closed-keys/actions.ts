import { ActionRefused, defineAction, type SubjectKind } from '#core/business/operator-actions/action-kind.ts';
import { object } from '#core/platform/schema.ts';
import { listClosedKeys, retryClosure } from './closed-keys.ts';

const closedKey: SubjectKind = {
  name: 'closure',
  async find(host, handle) {
    const closure = (await listClosedKeys(host)).find(({ id }) => id === handle.toLowerCase());
    if (closure !== undefined) return { id: closure.id, label: closure.upstream, recordedAt: 'closures' };
    throw new ActionRefused(`Closed key ${handle} not found.`, 'not_found');
  },
};

export const retryAction = defineAction({
  name: 'closure.retry',
  subject: closedKey,
  summary: 'let the next request try a closed key, on every instance',
  input: object({}),
  async perform(host, id) {
    if (!(await retryClosure(host, id))) throw new ActionRefused('The vendor has accepted this key.', 'not_found');
  },
});
