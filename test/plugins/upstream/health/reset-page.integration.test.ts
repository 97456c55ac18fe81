import { afterAll, beforeAll } from 'vitest';
import { describeActionPages } from '../../../support/action-pages.ts';
import { startGateway, type TestGateway, yamlFor } from '../../../support/gateway.ts';
import { type PageClient, signInAt } from '../../../support/page-client.ts';
import { listToldActions } from '../../../support/told-actions.ts';

const operator = 'ops@example.com';
let gateway: TestGateway;
let ops: PageClient;
let customer: PageClient;
beforeAll(async () => {
  gateway = await startGateway({ yaml: `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]\n` });
  [ops, customer] = [await signIn(operator), await signIn('customer@example.com')];
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const signIn = (email: string) => signInAt(gateway.url, email);

const actionsOn = (subject: string) => listToldActions(gateway.database, { subject, limit: 20 });

/** Nothing listens at the upstream's address: without an open breaker there is nothing to reset. */
async function openBreaker(): Promise<void> {
  for (let count = 0; count < 6; count++) {
    const content = crypto.randomUUID();
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dp/test', messages: [{ role: 'user', content }] }),
    });
    await reply.text();
  }
}

describeActionPages(
  [
    {
      path: '/operator/routes/reset',
      action: 'route.reset',
      async subject() {
        const id = 'one/model-there';
        await openBreaker();
        const before = (await actionsOn(id)).length;
        const state = async () => (await actionsOn(id)).length - before;
        return { path: `/operator/routes/reset?route=${id}`, id, state };
      },
      right: {},
      does: [0, 1],
      note: undefined,
    },
  ],
  () => ({ gateway, ops, customer, operator, reason: '' }),
);
