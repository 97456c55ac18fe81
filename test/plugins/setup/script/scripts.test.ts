import { expect, it } from 'vitest';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readScripts } from '../../../../plugins/setup/script/scripts.ts';
import { scriptedFormats } from '../../../../plugins/setup/tools.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';

const hostWith = (count: number) =>
  setupHost(Array.from({ length: count }, (_, index) => modelOf(`model-${index}`, ['chat', 'messages']))) as Host;
const gateway = registry as Registry;

it('the scripts of thousands of models are written in several turns of the event loop', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const { sh, data } = await readScripts(hostWith(3_000), gateway);
  clearImmediate(next);
  expect(data?.models).toHaveLength(3_000);
  expect(sh.text).toContain('model-2999');
  // Six to read what the models can do, one for the defaults of each format, one for the data and one for each script.
  expect(turns).toBeGreaterThanOrEqual(9 + scriptedFormats.length);
});

it('the scripts are written once for each configuration, however many requests wait for them', async () => {
  const host = hostWith(1);
  const [first, second] = await Promise.all([readScripts(host, gateway), readScripts(host, gateway)]);
  expect(second).toBe(first);
  expect(await readScripts(host, gateway)).toBe(first);
  expect(await readScripts(hostWith(1), gateway)).not.toBe(first);
});

it('scripts that could not be written are tried again', async () => {
  const host = hostWith(1);
  const broken = {
    abilityReader: () => {
      throw new Error('on purpose');
    },
  } as unknown as Registry;
  await expect(readScripts(host, broken)).rejects.toThrow('on purpose');
  expect((await readScripts(host, gateway)).sh.text).toContain('model-0');
});
