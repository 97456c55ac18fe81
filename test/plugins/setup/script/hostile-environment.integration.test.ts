import { chown } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, setUp, startAcceptingStub } from './engine-fixture.ts';
import type { StubGateway } from './parts-fixture.ts';
import { hasCommand } from './shells.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

describe('script', () => {
  it.skipIf(!hasCommand('bash'))('works with options and variables that the shell inherited', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const environment = {
      SHELLOPTS: 'braceexpand:hashall:interactive-comments:allexport:errexit:noclobber:noglob:pipefail',
      IFS: '/a',
      CDPATH: '/',
      GREP_OPTIONS: '--color=always',
      POSIXLY_CORRECT: '1',
    };
    const options = { shell: ['bash'], environment } as const;
    expect(await home.run(setUp, options)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--undo', '--yes'], options)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it.skipIf(process.getuid?.() !== 0)('says when root would own files in the home of another user', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    await chown(home.home, 65534, 65534);
    const { status, stderr } = await home.run(setUp);
    expect([status, stderr]).toEqual([
      0,
      'This runs as root in the home folder of another user: new files will belong to root.\n',
    ]);
    for (const name of ['SUDO_UID', 'DOAS_USER', 'PKEXEC_UID'])
      expect(await home.run(setUp, { environment: { [name]: '65534' } })).toMatchObject({
        status: 1,
        stderr: 'This runs as root in the home folder of another user. Run it again without sudo.\n',
      });
  });
});
