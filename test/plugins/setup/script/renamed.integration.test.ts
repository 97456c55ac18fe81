import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, renderTest, setUp, startAcceptingStub } from './engine-fixture.ts';
import type { StubGateway } from './parts-fixture.ts';
import { shellsInTurn } from './shells.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

/** The script after the service got another name; gateway.yaml names the former ones. */
const renderRenamed = () =>
  renderTest(stub.url).replaceAll('daypass', 'other').replace("former_slugs=''", "former_slugs='older daypass'");

const turns = shellsInTurn();

describe('a service with a new name', () => {
  it('takes over what was set up under the former one, with its models', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const renamed = { script: renderRenamed(), shell: turns.next().value.command };
    expect(await home.run([...setUp, '--model', 'dp/other'])).toMatchObject({ status: 0, stderr: '' });

    const { '.config': _, ...old } = await home.snapshot();
    expect((await home.run(['--list'], renamed)).output).toMatch(
      /alpha +Tool alpha +found, set up under a former name/,
    );
    const verified = await home.run(['--verify'], renamed);
    expect(verified.output).toMatch(/Tool alpha +outdated +it is set up under a former name of Daypass/);
    const tried = await home.run(['--dry-run'], renamed);
    expect(tried.output).toContain('Settings under a former name of Daypass are taken out first:');
    expect(await home.snapshot()).toMatchObject(old);

    const { status, stderr, output } = await home.run(['--yes'], renamed);
    expect({ status, stderr }, output).toEqual({ status: 0, stderr: '' });
    const after = await home.snapshot();
    expect(Object.keys(after).filter((path) => path.includes('daypass'))).toEqual([]);
    expect(after['.config/other/setup/tools']).toContain('alpha\tdp/other\nbeta\tdp/other\ngamma\tdp/other\n');
    expect(after['.profile']).not.toContain('daypass');
    expect((await home.run(['--yes'], renamed)).output).toContain('unchanged');
    expect(await home.run(['--undo', '--yes'], renamed)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('takes back what was set up under both', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const renamed = { script: renderRenamed(), shell: turns.next().value.command };
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--yes', '--tools', 'alpha'], renamed)).toMatchObject({ status: 0, stderr: '' });
    const both = await home.snapshot();
    expect(both['.config/daypass/setup/tools']).toMatch(/beta\ngamma\n$/);
    expect(both['.config/other/setup/tools']).toMatch(/alpha\n$/);
    expect(await home.run(['--undo', '--yes'], renamed)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });
});
