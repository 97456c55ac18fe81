import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import { defineStage, type Stage } from '#core/gateway/pipeline/stage.ts';
import { silentLog } from '../../../support/database.ts';
import { createExchange } from '../../../support/exchange.ts';

const host: Host = { ...createTestHost(), log: silentLog };
const define = (name: string, create: (options: unknown) => Stage | Promise<Stage>) => ({
  definition: defineStage({ name, description: name, options: { type: 'object' }, create }),
  options: { of: name },
});

describe('a pipeline that is built', () => {
  it('has the stages in the order of the list, one created after the other', async () => {
    const order: string[] = [];
    const create = (name: string) => async () => {
      await Promise.resolve();
      order.push(name);
      return {};
    };
    await buildPipeline([define('one', create('one')), define('two', create('two'))], host);
    expect(order).toEqual(['one', 'two']);
  });

  it('gives each stage its own options', async () => {
    const seen: unknown[] = [];
    const note = (options: unknown) => (seen.push(options), {});
    await buildPipeline([define('one', note), define('two', note)], host);
    expect(seen).toEqual([{ of: 'one' }, { of: 'two' }]);
  });

  it('may have the same stage twice', async () => {
    const starts: string[] = [];
    const create = () => ({ start: () => (starts.push('one'), undefined) });
    const pipeline = await buildPipeline([define('one', create), define('one', create)], host);
    pipeline.start(createExchange());
    expect(starts).toEqual(['one', 'one']);
  });

  it('names the stage that cannot be created, with the reason behind it', async () => {
    const reason = new Error('no disk');
    const broken = define('two', () => Promise.reject(reason));
    await expect(buildPipeline([broken], host)).rejects.toMatchObject({
      message: 'stage "two" could not be created',
      cause: reason,
    });
  });

  it('releases the stages before the one that cannot be created', async () => {
    const released: string[] = [];
    const release = (name: string) => () => ({ [Symbol.asyncDispose]: () => void released.push(name) });
    const broken = define('three', () => Promise.reject(new Error('no')));
    await buildPipeline([define('one', release('one')), define('two', release('two')), broken], host).catch(() => {});
    expect(released).toEqual(['two', 'one']);
  });
});
