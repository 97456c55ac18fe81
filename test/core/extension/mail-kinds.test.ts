import { describe, expect, it } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { MailKind } from '#core/gateway/mails/mail-kind.ts';

describe('a kind of mails', () => {
  const texts = { en: { 'mail.reason.old': 'it is old' }, id: { 'mail.reason.old': 'sudah lama' } };
  const kind: MailKind = {
    event: 'place.reserved',
    delivery: 'usual',
    texts,
    load: () => Promise.reject(new Error('nothing is due')),
  };

  it('wakes the sender at its event, and gives pages its texts once', async () => {
    const registry = new Registry();
    registry.mail(kind);
    registry.mail({ ...kind, event: 'plan.ended' });
    expect(registry.pageTexts).toEqual([texts]);
    await using host = createTestHost({ sections: { mail: { smtp: 'smtp://mail.example:587' } } });
    expect(registry.eventHandlers.map(({ event }) => event)).toEqual(['place.reserved', 'plan.ended']);
    await registry.eventHandlers[0]?.handle({} as never, host);
    expect(host.addedJobs.map(({ name }) => name)).toEqual(['send-mails']);
  });

  it('is registered once for an event', () => {
    const registry = new Registry();
    registry.mail(kind);
    expect(() => registry.mail({ ...kind })).toThrow('mails about place.reserved are registered twice');
  });
});

describe('a kind of problems', () => {
  it('that operators are alerted to wakes the webhook as well', async () => {
    const registry = new Registry();
    const alert = { event: 'order.flagged', compose: async () => 'settled' } as const;
    registry.problem({ name: 'flags', order: 120, find: () => [], alert });
    const webhook = { url: 'https://hooks.example.com', secret: 'a secret of the operator' };
    await using host = createTestHost({ sections: { alerts: { webhook } } });
    await registry.eventHandlers[0]?.handle({} as never, host);
    expect(host.addedJobs.map(({ name }) => name)).toEqual(['send-webhooks']);
  });
});
