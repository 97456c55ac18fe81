import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, setUp, startAcceptingStub } from './engine-fixture.ts';
import { sendJson, startStub, type StubGateway, systemTools, testKey, toolFolder } from './parts-fixture.ts';
import { hasCommand } from './shells.ts';

let accepting: StubGateway;
let refusing: StubGateway;

beforeAll(async () => {
  accepting = await startAcceptingStub();
  refusing = await startStub((path, response) => {
    if (path.startsWith('/wrong')) sendJson(response, 401, { error: { message: 'no' } });
    else if (path.startsWith('/plan'))
      sendJson(response, 200, { object: 'key', active_period: null, renew_url: 'https://ai.example/buy' });
    else if (path.startsWith('/blocked')) sendJson(response, 403, { error: { message: 'This account is blocked.' } });
    else if (path.startsWith('/moved')) response.writeHead(302, { location: 'http://portal.example/' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  });
});
afterAll(async () => {
  await accepting[Symbol.asyncDispose]();
  await refusing[Symbol.asyncDispose]();
});

describe('nothing is written', () => {
  it.each([
    ['wrong', 'Daypass does not accept the key dp-'],
    ['plan', 'has no active plan. Choose one at https://ai.example/buy'],
    ['blocked', 'This account is blocked.'],
    ['moved', 'answered instead of it (302 to http://portal.example/)'],
    ['portal', 'answered instead of it (200, a web page)'],
    ['unreachable', 'Nothing accepts connections at http://127.0.0.1:1'],
  ])('when the gateway does not accept the key: %s', async (answer, message) => {
    await using home = await createHome(answer === 'unreachable' ? 'http://127.0.0.1:1' : `${refusing.url}/${answer}`);
    await home.write(existing);
    const before = await home.snapshot();
    const { status, output } = await home.run(setUp);
    expect(status).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toContain(testKey);
    expect(await home.snapshot()).toStrictEqual(before);
  });
});

describe('on a machine with', () => {
  it.each([
    ['curl and node', ['curl', 'node']],
    ['node alone', ['node']],
  ])('%s, everything is set up and taken back', async (_, programs) => {
    if (!programs.every((name) => name === 'node' || hasCommand(name))) return;
    await using home = await createHome(accepting.url);
    await home.write(existing);
    const before = await home.snapshot();
    const path = await toolFolder([...systemTools, ...programs]);
    const requests = accepting.requests.length;
    expect(await home.run(setUp, { path })).toMatchObject({ status: 0, stderr: '' });
    expect(accepting.requests[requests]?.headers.authorization).toBe(`Bearer ${testKey}`);
    const after = await home.snapshot();
    expect(after['.alpha/settings.json']).toContain('// mine');
    expect(after['.alpha/settings.json']).toContain(testKey);
    expect(await home.run(['--undo', '--yes'], { path })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
    await rm(path, { recursive: true });
  });

  it('on a machine without Node.js and Python, what needs no merging is written, and the rest is shown without the key', async () => {
    await using home = await createHome(accepting.url);
    await home.write({ '.alpha/settings.json': existing['.alpha/settings.json'] ?? '', '.gamma/rc': 'a' });
    const before = await home.snapshot();
    const path = await toolFolder([...systemTools, hasCommand('curl') ? 'curl' : 'wget']);
    const { status, output } = await home.run(setUp, { path });
    expect(status, output).toBe(0);
    expect(output).toMatch(/Tool alpha +manual/);
    expect(output).toContain('YOUR_KEY');
    expect(output).not.toContain(testKey);
    const after = await home.snapshot();
    expect(after['.alpha/settings.json']).toBe(before['.alpha/settings.json']);
    expect(after['.beta/config.toml']).toContain('dp/demo');
    expect(after['.gamma/rc']).toContain(testKey);
    expect(await home.run(['--undo', '--yes'], { path })).toMatchObject({ status: 0 });
    expect(await home.snapshot()).toStrictEqual(before);
    await rm(path, { recursive: true });
  });
});

describe('gateway', () => {
  it('a gateway under a path is asked there, and its settings have the path', async () => {
    await using home = await createHome(`${accepting.url}/team/ai`);
    const requests = accepting.requests.length;
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    expect(accepting.requests[requests]?.path).toBe('/team/ai/v1/key');
    expect(JSON.parse(await home.read('.alpha/settings.json'))).toMatchObject({
      gateway: { url: `${accepting.url}/team/ai/v1` },
    });
  });
});
