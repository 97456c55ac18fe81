import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, renderTest, setUp, startAcceptingStub } from './engine-fixture.ts';
import type { StubGateway } from './parts-fixture.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

/** The script of another gateway, or of one whose service was renamed. */
const renderOther = () => renderTest(`${stub.url}/other`).replaceAll('daypass', 'other');

describe('two gateways', () => {
  it('two gateways are taken back in reverse order, byte for byte', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const script = renderOther();
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    const first = await home.snapshot();
    expect(await home.run(setUp, { script })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--undo', '--yes'], { script })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(first);
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('two gateways never leave the address of one with settings of the user: the older one waits for the newer one', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const script = renderOther();
    await home.run(setUp);
    await home.run(setUp, { script });
    const both = await home.snapshot();

    for (const args of [['--undo', '--yes', '--tools', 'alpha'], setUp]) {
      const { status, output } = await home.run(args);
      expect(status).toBe(1);
      expect(output).toMatch(/Tool alpha +failed.*"other" was set up in it later/);
      expect((await home.snapshot())['.alpha/settings.json']).toBe(both['.alpha/settings.json']);
    }

    expect(await home.run(['--undo', '--yes'], { script })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0, stderr: '' });
    const after = await home.snapshot();
    for (const path of ['.alpha/settings.json', '.beta/config.toml']) expect(after[path]).toBe(before[path]);
  });
});
