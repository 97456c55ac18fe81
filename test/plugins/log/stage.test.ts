import { expect, test } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { createLogStage } from '../../../plugins/log/create-stage.ts';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import { arrive, identify, linesOf, openLog, TemporaryFolder } from './fixture.ts';

test('a request goes upstream at once, and its reply waits for its line', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, disk: new ThreadedDisk() });
  const options = {
    keep_days: 30,
    max_journal_bytes: 16_777_216,
    late_after: 15,
    content: false,
    max_content_bytes: 1,
  };
  const stage = createLogStage(options, { keep: () => log } as unknown as Host);
  const exchange = identify(arrive());
  stage.start?.(exchange);
  expect(stage.enter?.(exchange)).toBeUndefined();
  const held = stage.hold?.(exchange);
  expect(held).toBeInstanceOf(Promise);
  await held;
  expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: exchange.id, model: 'gpt-6-sol' }]);
  expect(stage.hold?.(exchange)).toBeUndefined();
});
