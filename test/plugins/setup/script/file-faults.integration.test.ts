import { chmod, mkdir, readdir, readlink, rename, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, setUp, startAcceptingStub } from './engine-fixture.ts';
import { hookedPath } from './killer.ts';
import { type StubGateway, testKey } from './parts-fixture.ts';
import { describeInShells, runShell } from './shells.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

/** What refuses permissions to this process too, when it is root. */
const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

describeInShells('in a home with an odd name', ({ command: shell }) => {
  it.each([`it's "a" $(touch pwned) \`touch pwned\` é *\n -n %s\\n&;|`])(
    'the script sets up tools and the shell, changes nothing the second time, and takes everything back: %j',
    async (name) => {
      await using home = await createHome(stub.url, name);
      await home.write(existing);
      const before = await home.snapshot();

      const first = await home.run(setUp, { shell });
      expect(first).toMatchObject({ status: 0, stderr: '' });
      expect(first.output).not.toContain(testKey);
      const after = await home.snapshot();
      expect(after['.alpha/settings.json']).toContain(testKey);
      expect(after['.beta/config.toml']).toBe(
        `644 # mine\nmodel = "dp/demo"   # keep\n[gateway]\nurl = "${stub.url}"\n`,
      );
      expect(after['.gamma/rc']).toMatch(
        /^600 set-colour blue\n# >>> daypass >>>\nset-key dp-\S+\n# <<< daypass <<<\n$/,
      );

      const { stdout } = await runShell(shell, ['-c', '. "$HOME/.profile"; printf %s "$DAYPASS_API_KEY"'], {
        env: { HOME: home.home, PATH: process.env['PATH'] },
      });
      expect(stdout).toBe(testKey);

      const second = await home.run(setUp, { shell });
      expect(second).toMatchObject({ status: 0, stderr: '' });
      expect(await home.snapshot()).toStrictEqual(after);

      const undo = await home.run(['--undo', '--yes'], { shell });
      expect(undo).toMatchObject({ status: 0, stderr: '' });
      expect(await home.snapshot()).toStrictEqual(before);
      expect((await readdir(home.folder)).toSorted()).toStrictEqual([name, 'tmp'].toSorted());
    },
  );
});

describe('file of a tool', () => {
  it.each([
    ['is broken', '{ "a": '],
    ['has a member twice', '{ "gateway": {}, "gateway": {} }'],
    ['is a list', '[]'],
    ['has a NUL', '{ "a": "\0" }'],
  ])('stays as it is when it %s, and the other tools are set up', async (_, text) => {
    await using home = await createHome(stub.url);
    await home.write({ ...existing, '.alpha/settings.json': text });
    const before = await home.snapshot();
    const { status, output } = await home.run(setUp);
    expect(status).toBe(1);
    expect(output).toMatch(/Tool alpha +failed +~\/\.alpha\/settings\.json: ./);
    expect(output).toMatch(/Tool beta +written/);
    const after = await home.snapshot();
    expect(after['.alpha/settings.json']).toBe(before['.alpha/settings.json']);
    expect(after['.beta/config.toml']).toContain('dp/demo');
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0 });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a file of a tool keeps its Windows line ends, and comes back byte for byte', async () => {
    await using home = await createHome(stub.url);
    const files = Object.fromEntries(
      Object.entries(existing).map(([path, text]) => [path, text.replaceAll('\n', '\r\n')]),
    );
    await home.write(files);
    const before = await home.snapshot();
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    const after = await home.snapshot();
    for (const path of ['.alpha/settings.json', '.beta/config.toml']) expect(after[path]).not.toMatch(/[^\r]\n/);
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(after);
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0 });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a file of a tool is changed where its symbolic links lead, and they stay', async () => {
    await using home = await createHome(stub.url);
    await home.write({
      'dotfiles/alpha.json': existing['.alpha/settings.json'] ?? '',
      'dotfiles/beta/config.toml': '',
    });
    await mkdir(join(home.home, '.alpha'));
    await symlink('../dotfiles/link', join(home.home, '.alpha/settings.json'));
    await symlink('alpha.json', join(home.home, 'dotfiles/link'));
    await symlink('dotfiles/beta', join(home.home, '.beta'));
    const before = await home.snapshot();
    const { status, stderr } = await home.run(setUp);
    expect(status).toBe(0);
    // Its permissions are those that somebody has chosen for it.
    expect(((await stat(join(home.home, 'dotfiles/alpha.json'))).mode & 0o777).toString(8)).toBe('644');
    expect(stderr).toMatch(
      /^Other users of this machine can read the key in ~\/dotfiles\/alpha\.json\. Run: chmod 600 "\$HOME\/dotfiles\/alpha\.json"\n$/,
    );
    expect(await readlink(join(home.home, '.alpha/settings.json'))).toBe('../dotfiles/link');
    expect(await home.read('dotfiles/alpha.json')).toContain(testKey);
    expect(await home.read('dotfiles/beta/config.toml')).toContain('dp/demo');
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0 });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a file of a tool is skipped or refused when its links lead nowhere or in a circle', async () => {
    await using home = await createHome(stub.url);
    await home.write({ '.alpha/a': '', '.beta/b': '' });
    await symlink(join(home.folder, 'nowhere/settings.json'), join(home.home, '.alpha/settings.json'));
    await symlink('config.toml', join(home.home, '.beta/config.toml'));
    const before = await home.snapshot();
    const { output } = await home.run(['--yes', '--tools', 'alpha,beta']);
    expect(output).toMatch(/Tool alpha +(skipped|failed) +~\/\.alpha\/settings\.json: it is a link to/);
    expect(output).toMatch(/Tool beta +(skipped|failed) +~\/\.beta\/config\.toml: its symbolic links lead in a circle/);
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a file of a tool that is write-protected stays, and the other tools are set up', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    await chmod(join(home.home, '.alpha/settings.json'), 0o444);
    await runShell(['chown'], ['-R', '65534:65534', home.home], { env: process.env });
    const { status, output } = await home.run(setUp, { prefix: asNobody });
    expect(status).toBe(1);
    expect(output).toMatch(/Tool alpha +failed +~\/\.alpha\/settings\.json: it is write-protected/);
    expect(output).toMatch(/Tool beta +written/);
    expect(await home.read('.alpha/settings.json')).toBe(existing['.alpha/settings.json']);
  });

  it('a home that is write-protected is left alone', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    await runShell(['chown'], ['-R', '65534:65534', home.home], { env: process.env });
    for (const folder of ['.alpha', '.beta', '.gamma', '']) await chmod(join(home.home, folder), 0o555);
    const before = await home.snapshot();
    const { status, output } = await home.run(setUp, { prefix: asNobody });
    expect(status).toBe(1);
    expect(output).toMatch(/Permission denied|write-protected|not writable|cannot be created/);
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a file of a tool that its tool rewrites meanwhile is read again, and keeps what the tool wrote', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    // The tool writes each time before the file is replaced, twice.
    const path = await hookedPath(
      home,
      `const file = ${JSON.stringify(join(home.home, '.alpha/settings.json'))};
const { openSync, writeFileSync } = fs;
let count = '';
fs.openSync = (path, ...rest) => {
  if (/alpha.\\.daypass-setup/.test(path) && count !== 'xx') writeFileSync(file, '{ "theme": "' + (count += 'x') + '" }\\n');
  return openSync(path, ...rest);
};`,
    );
    expect(await home.run(['--yes', '--tools', 'alpha'], { path })).toMatchObject({ status: 0, stderr: '' });
    const written: unknown = JSON.parse(await home.read('.alpha/settings.json'));
    expect(written).toMatchObject({ theme: 'xx', gateway: { key: testKey } });
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0 });
    expect(await home.read('.alpha/settings.json')).toBe('{ "theme": "xx" }\n');
  });
});

describe('HOME', () => {
  it.each([
    ['is not set', undefined],
    ['is empty', ''],
    ['is the root', '/'],
    ['is relative', 'home'],
    ['does not exist', '/no/such/folder'],
  ])('%s: the script says so and does nothing', async (_, value) => {
    await using home = await createHome(stub.url);
    const requests = stub.requests.length;
    const { status, stdout, stderr } = await home.run(setUp, { environment: { HOME: value } });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/HOME/);
    expect(stub.requests.length).toBe(requests);
    expect(await home.snapshot()).toStrictEqual({});
  });
});

const canMount =
  process.platform === 'linux' && (await runShell(['unshare'], ['-rm', 'true'], { env: process.env })).status === 0;

describe.skipIf(!canMount)('a full disk', () => {
  /** Blocks of 4 KiB that are left for the script, beside the files and their folders. */
  it.each([0, 2, 6])('leaves every file whole with %i blocks left, and a later run completes', async (blocks) => {
    await using home = await createHome(stub.url);
    const disk = join(home.folder, 'disk');
    await mkdir(disk);
    const copy = join(home.folder, 'copy');
    const body = `mount -t tmpfs -o size=2m tmpfs '${disk}' && HOME='${disk}/h' && cp -a '${home.home}' "$HOME"
dd if=/dev/zero of='${disk}/filler' bs=4k 2>/dev/null
truncate -s -$((4096 * ${blocks})) '${disk}/filler'
"$@"; echo "status $?"; cp -a "$HOME" '${copy}1'; rm '${disk}/filler'
"$@" >/dev/null 2>&1; echo "later $?"; cp -a "$HOME" '${copy}2'
dash "$2" --undo --yes >/dev/null 2>&1; echo "undo $?"; cp -a "$HOME" '${copy}3'`;
    await home.write(existing);
    const prefix = ['unshare', '-rm', 'sh', '-c', body, 'sh'];
    const { stdout, output } = await home.run(setUp, { prefix });
    const copied = async (place: string) => {
      await rename(home.home, `${home.home}-`);
      await rename(place, home.home);
      const found = await home.snapshot();
      await rename(home.home, place);
      await rename(`${home.home}-`, home.home);
      return found;
    };
    const before = await home.snapshot();
    const after = await copied(`${copy}1`);
    const complete = await copied(`${copy}2`);
    expect(stdout, output).toMatch(/later 0\nundo 0\n$/);
    for (const path of Object.keys(existing)) expect([before[path], complete[path]], output).toContain(after[path]);
    expect(complete['.alpha/settings.json']).toContain(testKey);
    expect(await copied(`${copy}3`)).toStrictEqual(before);
    if (blocks === 0) expect(stdout).toContain('status 1');
  });
});
