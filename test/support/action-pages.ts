import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway, yamlFor } from './gateway.ts';
import { hiddenFields, PageClient, signInAt } from './page-client.ts';
import { listToldActions } from './told-actions.ts';

/*
 * Tests the pages on which an operator does something, over HTTP: who may use them, how they report invalid input, what they do, and what
 * is recorded.
 */

export interface Subject {
  readonly path: string;
  readonly id: string; // in the record of actions
  state(): Promise<unknown>;
}

export type Fields = Readonly<Record<string, string>>;

export interface ActionPage {
  readonly path: string; // as registered
  readonly action: string;
  subject(): Promise<Subject>;
  readonly wrong?: readonly (readonly [fields: Fields, message: string])[]; // invalid inputs, and what the page reports for each
  readonly right: Fields | ((about: Subject) => Promise<Fields>);
  readonly does: readonly [before: unknown, after: unknown]; // states before and after the action
  readonly note?: unknown; // the recorded one, if it is not the reason
}

export interface ActionPagesWorld {
  readonly gateway: TestGateway;
  readonly ops: PageClient;
  readonly customer: PageClient;
  readonly operator: string; // email address
  readonly reason: string; // recorded unless a page specifies another
}

export interface ServedActionPages extends ActionPagesWorld {
  readonly yaml: string; // of gateway.yaml
}

/** `sections` of gateway.yaml are added to an upstream, a model and the operator. */
export function useActionPages(sections: string, reason = 'asked for in the chat'): ServedActionPages {
  const operator = 'ops@example.com';
  const yaml = `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]\n${sections}`;
  const world = { operator, reason, yaml } as {
    -readonly [Name in keyof ServedActionPages]: ServedActionPages[Name];
  };
  beforeAll(async () => {
    world.gateway = await startGateway({ yaml });
    world.ops = await signInAt(world.gateway.url, operator);
    world.customer = await signInAt(world.gateway.url, 'customer@example.com');
  });
  afterAll(() => world.gateway?.[Symbol.asyncDispose]());
  return world;
}

const formPathOf = ({ path }: Subject) => path.split('?')[0] ?? '';
const rightOf = (right: ActionPage['right'], about: Subject) => (typeof right === 'function' ? right(about) : right);

/** @param world called within tests, when it is open */
export function describeActionPages(pages: readonly ActionPage[], world: () => ActionPagesWorld): void {
  const actionsOn = (subject: string) => listToldActions(world().gateway.database, { subject, limit: 20 });
  const openForm = async (about: Subject) => hiddenFields((await world().ops.get(about.path)).text, formPathOf(about));

  describe.each(pages)('$path', ({ path, action, subject, wrong = [], right, does, ...page }) => {
    it.each(['en', 'id'])('opens for an operator in %s, and has a text for all that it says', async (language) => {
      const about = await subject();
      const { status, text } = await world().ops.get(about.path, { 'accept-language': language });
      expect([status, text.match(/<html lang="(\w+)"/)?.[1]]).toEqual([200, language]);
      expect(text).not.toMatch(/>\s*(operator|form)\.[\w.]+\s*</);
      expect(text).toContain(`action="${formPathOf(about)}"`);
    });

    it('is refused for a customer, and without a sign-in, also when the form is sent', async () => {
      const about = await subject();
      const before = await about.state();
      const form = { ...(await openForm(about)), ...(await rightOf(right, about)) };
      const stranger = new PageClient(world().gateway.url);
      expect((await world().customer.get(about.path)).status).toBe(403);
      expect((await world().customer.post(formPathOf(about), form)).status).toBe(403);
      expect((await stranger.get(about.path)).location).toMatch(/^\/sign-in\?next=/);
      expect((await stranger.post(formPathOf(about), form)).status).toBe(401);
      expect(await about.state()).toEqual(before);
    });

    it('does nothing for a form that another site has sent', async () => {
      const about = await subject();
      const before = await about.state();
      expect((await world().ops.post(formPathOf(about), await rightOf(right, about))).status).toBe(403);
      const form = { ...(await openForm(about)), ...(await rightOf(right, about)) };
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await world().ops.post(formPathOf(about), form, foreign)).status).toBe(403);
      expect(await about.state()).toEqual(before);
    });

    it.skipIf(wrong.length === 0)('says what is wrong with its input, and does nothing', async () => {
      const about = await subject();
      const before = await about.state();
      for (const [fields, message] of wrong) {
        const { status, text } = await world().ops.submit(about.path, formPathOf(about), fields);
        expect([fields, status, text.includes(message)]).toEqual([fields, 422, true]);
      }
      expect(await about.state()).toEqual(before);
    });

    it('does it once for a form that is sent twice, and records who and why', async () => {
      const about = await subject();
      const known = new Set((await actionsOn(about.id)).map(({ id }) => id));
      expect(await about.state()).toEqual(does[0]);
      const form = { ...(await openForm(about)), ...(await rightOf(right, about)) };
      const done = await world().ops.post(formPathOf(about), form);
      expect([done.status, done.location.startsWith('/operator')]).toEqual([303, true]);
      const next = await world().ops.get(done.location);
      // Either confirms the action or shows its result.
      expect([next.status, next.text.includes('class="flash')]).toEqual([200, true]);
      expect((await world().ops.post(formPathOf(about), form)).status).toBe(409);
      expect(await about.state()).toEqual(does[1]);
      const recorded = (await actionsOn(about.id)).filter(({ id, outcome }) => !known.has(id) && outcome === 'done');
      const note = 'note' in page ? page.note : world().reason;
      expect(recorded).toMatchObject([{ operator: world().operator, action, subject: about.id, note }]);
    });

    it.skipIf(/routes|outage$|new|books$|configuration$/.test(path))(
      'does not exist for what does not exist',
      async () => {
        const unknown = path
          .replace('{outage}', '00000000-0000-0000-0000-000000000000')
          .replace('{id}', '00000000-0000-0000-0000-000000000000')
          .replace('{code}', 'ORD-NOTHING')
          .replace('{key}', 'ORD-NOTHING-R1')
          .replace('{payment}', '00000000-0000-0000-0000-000000000000');
        expect((await world().ops.get(unknown)).status).toBe(404);
      },
    );
  });
}
