import { describe, expect, it } from 'vitest';
import { InboxWriter, type NewNotification } from '#core/business/payments/inbox-writer.ts';

/** Of one statement, and those that may wait for theirs. */
const [batch, bound] = [50, 5_000];

const notification = (key: number): NewNotification => ({
  provider: 'fake',
  event_key: String(key),
  reference: 'ORD-TEST.1',
  provider_reference: undefined,
  refund_key: undefined,
  payment_id: undefined,
  body: '{}',
  evidence: undefined,
});

describe('notifications', () => {
  it('are refused while too many wait for the database, and those that wait are stored', async () => {
    const answer = Promise.withResolvers<void>();
    let statements = 0;
    const storeFirst = async (_sql: string, [json]: readonly unknown[] = []) => {
      statements++;
      await answer.promise;
      return (JSON.parse(String(json)) as NewNotification[]).map((one, id) => ({ ...one, id: String(id) }));
    };
    const writer = new InboxWriter({ storeFirst: storeFirst as never });
    // The first one is written at once.
    const stored = Array.from({ length: 1 + bound }, (_, key) => writer.store(notification(key)));
    await expect(writer.store(notification(-1))).rejects.toThrow('too many notifications are waiting');
    answer.resolve();
    expect((await Promise.all(stored)).every((id) => id !== undefined)).toBe(true);
    expect(statements).toBe(1 + bound / batch);
  });
});
