import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Server } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { Download, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { Browser, pageAt, pageHost, servePages, testTexts } from './page-fixture.ts';

const failing: Readonly<Record<string, Error>> = {
  '/typeerror': new TypeError('x is not a function'),
  '/gateway-error': new GatewayError('unavailable', 'accounts cannot be looked up', { retryAfter: 2 }),
  '/no-database': Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' }),
  '/no-redis': new SharedUnavailable('no answer'),
  '/gone': new PageError(404, 'test.note', {
    values: { value: '<7>' },
    action: { path: '/fine', label: 'test.title' },
  }),
  '/teapot': new PageError(418, 'test.note'),
};

interface Setup {
  readonly pages?: readonly Page[];
  readonly settings?: Partial<Host>;
}

async function serve({ pages = [], settings = {} }: Setup = {}): Promise<Server> {
  return servePages(pageHost(settings), (server) => {
    server.gateway.texts(testTexts);
    server.gateway.page(pageAt('/fine', { navigation: 'test.title' }));
    for (const page of pages) server.gateway.page(page);
    for (const [path, error] of Object.entries(failing))
      server.gateway.page(pageAt(path, { show: () => Promise.reject(error) }));
    server.gateway.page(pageAt('/bad-template', { template: `${import.meta.dirname}/broken-fixture.eta` }));
    server.route({ method: 'GET', path: '/json', handler: () => ({ ok: true }) });
    server.route({
      method: 'GET',
      path: '/stream',
      handler: () => Readable.from(['data: x\n\n'], { objectMode: false }),
    });
  });
}

const browse = async (url: string, headers: Record<string, string> = {}, setup: Setup = {}) =>
  new Browser(await serve(setup)).get(url, headers);

const titleOf = (payload: string) => /<h1>(.*?)<\/h1>/.exec(payload)?.[1];

describe('a template with a syntax error', () => {
  it.each([
    ['<h1>\n<%= it.title </h1>', 'unclosed tag at line 2 col 1'],
    ['<% if (it.title) { %>', "Unexpected token ')'"],
    ['<%= it.t( %>', 'missing ) after argument list'],
  ])('ends the start: %s', async (text, wrong) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'daypass-template-'));
    const template = join(folder.path, 'ours.eta');
    await writeFile(template, text);
    await expect(serve({ pages: [pageAt('/ours', { template })] })).rejects.toThrow(
      `page "/ours": template ${template} is malformed: ${wrong}`,
    );
  });
});

it('reads no NUL from an address, which the database does not take', async () => {
  const seen: unknown[] = [];
  const show = ({ params, query }: PageRequest) => {
    seen.push(params, query);
    return {};
  };
  await browse('/at/a%00b?q=c%00d', {}, { pages: [pageAt('/at/{place}', { show })] });
  expect(seen).toEqual([{ place: 'ab' }, { q: 'cd' }]);
});

describe('a page that shows another one instead', () => {
  const pages = [pageAt('/paid', { show: () => new Redirect('/fine') })];

  it('redirects there', async () => {
    const { statusCode, headers } = await browse('/paid', {}, { pages });
    expect([statusCode, headers.location]).toEqual([303, '/fine']);
  });

  it('makes htmx load that one whole', async () => {
    const { statusCode, headers, payload } = await browse('/paid', { 'hx-request': 'true' }, { pages });
    expect([statusCode, headers['hx-redirect'], payload]).toEqual([204, '/fine', '']);
  });
});

describe('a page without a template', () => {
  it('sends a file', async () => {
    const file = new Download('a "b".png', 'image/png', Buffer.from('png'));
    const { template: _, ...page } = pageAt('/file', { show: () => file });
    const { headers, payload } = await browse('/file', {}, { pages: [page] });
    expect([headers['content-type'], headers['content-disposition'], payload]).toEqual([
      'image/png',
      'attachment; filename="a__b_.png"',
      'png',
    ]);
  });

  it('shows nothing, for htmx to keep what it has', async () => {
    const { template: _, ...page } = pageAt('/same');
    expect((await browse('/same', { 'hx-request': 'true' }, { pages: [page] })).statusCode).toBe(204);
  });
});

describe('the layout', () => {
  it('is left out for a part of a page', async () => {
    const { payload } = await browse('/part', {}, { pages: [pageAt('/part', { layout: 'none' })] });
    expect(payload).toMatch(/^\s*<h1>Test page/);
  });

  it('has the note of a plain page, with its values', async () => {
    const page = pageAt('/note', { layout: 'plain', note: 'test.note', show: () => ({ value: '7F3K2M' }) });
    expect((await browse('/note', {}, { pages: [page] })).payload).toContain('>Value 7F3K2M</p>');
  });

  it('reloads a page without JavaScript, when it asks for it', async () => {
    const { payload } = await browse(
      '/slow',
      {},
      { pages: [pageAt('/slow', { show: () => ({ refreshSeconds: 10 }) })] },
    );
    expect(payload).toContain('<noscript><meta http-equiv="refresh" content="10"></noscript>');
    expect((await browse('/fine')).payload).not.toContain('http-equiv');
  });
});

describe('an error page', () => {
  it.each([
    ['/nothing', 404, 'This page does not exist.'],
    ['/typeerror', 500, 'Something went wrong on our side.'],
    ['/bad-template', 500, 'Something went wrong on our side.'],
    ['/gateway-error', 503, 'This page is temporarily unavailable.'],
    ['/no-database', 503, 'This page is temporarily unavailable.'],
    ['/no-redis', 503, 'This page is temporarily unavailable.'],
    ['/gone', 404, 'This page does not exist.'],
    ['/teapot', 418, 'This request could not be read.'],
  ])('at %s has the status %i and says: %s', async (url, status, title) => {
    const { statusCode, payload, headers } = await browse(url);
    expect([statusCode, titleOf(payload)]).toEqual([status, title]);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each(['text/html', 'application/json'])('that asks to try again says when, as %s', async (accept) => {
    const { headers } = await browse('/no-database', { accept });
    expect(headers['retry-after']).toBe('5');
  });

  it('shows the id by which the log knows it, and no stack', async () => {
    const lines: unknown[][] = [];
    const log: Host['log'] = {
      info: () => undefined,
      warn: () => undefined,
      error: (...line) => void lines.push(line),
    };
    const { payload, headers } = await browse('/typeerror', {}, { settings: { log } });
    expect(headers['x-request-id']).toMatch(/./);
    expect(payload).toContain(`<code>${headers['x-request-id']}</code>`);
    expect(lines.map(([text]) => text)).toEqual([`/typeerror failed, request ${headers['x-request-id']}`]);
    expect(String(lines[0]?.[1])).toBe('TypeError: x is not a function');
    expect(payload).not.toMatch(/not a function|\bat \//);
  });

  it('is logged once a minute, however often the page is opened', async () => {
    const lines: string[] = [];
    const log: Host['log'] = { info: () => undefined, warn: () => undefined, error: (line) => void lines.push(line) };
    const browser = new Browser(await serve({ settings: { log } }));
    for (let visit = 0; visit < 3; visit++) await browser.get('/typeerror');
    expect(lines).toHaveLength(1);
  });

  it('shows its own text and a link to continue', async () => {
    const { payload } = await browse('/gone');
    expect(payload).toContain('<p class="lead">Value &lt;7&gt;</p>');
    expect(payload).toContain('<a class="button primary" href="/fine">Test page</a>');
  });

  it('leads to the front page otherwise', async () => {
    expect((await browse('/nothing')).payload).toContain('<a class="button primary" href="/">Go to the front page</a>');
  });

  it('speaks the language of the reader', async () => {
    const { payload, headers } = await browse('/nothing', { 'accept-language': 'id' });
    expect([titleOf(payload), headers['content-language']]).toEqual(['Halaman ini tidak ada.', 'id']);
  });

  it('is shown bare when the layout fails too', async () => {
    const settings = {
      service: {
        get name(): string {
          throw new Error('broken');
        },
        prefix: 'dp',
        baseUrl: '',
      } as never,
    };
    const { statusCode, payload } = await browse('/nothing', {}, { settings });
    expect([statusCode, titleOf(payload)]).toEqual([404, 'This page does not exist.']);
  });

  it.each(['*/*', 'application/json', 'application/json, text/html;q=0.5', '', ';;;'])(
    'is JSON for the Accept "%s"',
    async (accept) => {
      const { statusCode, headers, payload } = await browse('/nothing', { accept });
      expect([statusCode, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
      expect(JSON.parse(payload)).toEqual({
        error: {
          message: 'Path "/nothing" not found.',
          type: 'invalid_request_error',
          param: null,
          code: 'not_found',
        },
      });
    },
  );

  it('is JSON in the dialect of Anthropic for its clients', async () => {
    const { payload } = await browse('/nothing', { accept: '*/*', 'anthropic-version': '2023-06-01' });
    expect(JSON.parse(payload)).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  it('keeps what a gateway error says to clients', async () => {
    const { payload, headers } = await browse('/gateway-error', { accept: '*/*' });
    expect([headers['retry-after'], JSON.parse(payload).error.message]).toEqual(['2', 'accounts cannot be looked up']);
  });

  it('is a page for htmx', async () => {
    const { headers } = await browse('/nothing', { accept: '*/*', 'hx-request': 'true' });
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
  });
});

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['id', 'id'],
    ['id-ID', 'id'],
    ['ID-id;q=0.9, en;q=0.8', 'id'],
    ['en-US,en;q=0.9,id;q=0.8', 'en'],
    ['fr, id;q=0.1', 'id'],
    ['fr', 'en'],
    ['*', 'en'],
    ['id;q=x, ,,;', 'en'],
  ])('for Accept-Language %s is %s', async (header, language) => {
    const { payload, headers } = await browse('/fine', header === undefined ? {} : { 'accept-language': header });
    expect(/<html lang="(\w+)"/.exec(payload)?.[1]).toBe(language);
    expect([headers['content-language'], String(headers.vary).includes('Accept-Language')]).toEqual([language, true]);
  });

  it('is the one that was chosen, from then on', async () => {
    const browser = new Browser(await serve());
    const page = await browser.get('/fine');
    expect(page.payload).toContain('<h1>Test page</h1>');
    const { statusCode, headers } = await browser.send('/preferences', { language: 'id', next: '/fine' }, {}, '/fine');
    expect([statusCode, headers.location]).toEqual([303, '/fine']);
    expect(String(headers['set-cookie'])).toMatch(/dp_language=id; Max-Age=31536000;.*HttpOnly; SameSite=Lax; Path=\//);
    expect((await browser.get('/fine', { 'accept-language': 'en' })).payload).toContain('<h1>Halaman uji</h1>');
  });

  it('cannot be one that there is not', async () => {
    const browser = new Browser(await serve());
    expect((await browser.send('/preferences', { language: 'xx' })).statusCode).toBe(422);
    browser.cookies.set('dp_language', 'xx');
    expect((await browser.get('/fine')).headers['content-language']).toBe('en');
  });

  it('does not lead to other sites', async () => {
    const browser = new Browser(await serve());
    const { headers } = await browser.send('/preferences', { language: 'id', next: '//evil.example' });
    expect(headers.location).toBe('/');
  });
});

it.each([
  ['system', 'light dark', ' media="(prefers-color-scheme: dark)"'],
  ['dark', 'dark', ''],
  ['light', 'light', undefined],
])('the theme %s loads the dark colours accordingly', async (theme, scheme, media) => {
  const browser = new Browser(await serve());
  await browser.send('/preferences', { theme });
  const { payload } = await browser.get('/fine');
  expect(payload).toContain(`<meta name="color-scheme" content="${scheme}">`);
  expect(/dark\.css"(.*?)>/.exec(payload)?.[1]).toBe(media);
});

describe('the headers of a page', () => {
  it('let nothing in from elsewhere, and nothing inline', async () => {
    const { headers } = await browse('/fine');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'private, no-cache',
    });
  });

  it.each(['/fine', '/nothing', '/typeerror', '/json', '/stream', '/preferences'])('are on %s', async (url) => {
    const { headers } = await browse(url);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect([headers['x-content-type-options'], typeof headers['x-request-id']]).toEqual(['nosniff', 'string']);
  });

  it('do not ask for HTTPS because a stranger says that it was used', async () => {
    const server = await servePages(pageHost(), ({ gateway }) => {
      gateway.texts(testTexts);
      gateway.page(pageAt('/fine'));
    });
    const headers = { 'x-forwarded-proto': 'https' };
    const response = await server.inject({ url: '/fine', headers, remoteAddress: '192.0.2.1' });
    expect(response.headers['strict-transport-security']).toBeUndefined();
  });

  it.each([
    ['http://localhost', {}, undefined],
    ['https://ai.example', {}, 'max-age=63072000'],
    ['http://localhost', { 'x-forwarded-proto': 'https' }, 'max-age=63072000'],
  ])('ask for HTTPS at %s with %j: %s', async (baseUrl, sent, expected) => {
    const service = { name: 'D', prefix: 'dp', slug: 'd', baseUrl, contact: undefined };
    const { headers } = await browse('/fine', sent as Record<string, string>, { settings: { service } });
    expect(headers['strict-transport-security']).toBe(expected);
  });
});

describe('the layout', () => {
  it('lists pages that have a name there and that the reader may see', async () => {
    const pages = [pageAt('/secret', { role: 'operator', navigation: 'test.title' }), pageAt('/unlisted')];
    const { payload } = await browse('/fine', {}, { pages });
    const navigation = /<nav class="top" aria-label="Main">([^]*?)<\/nav>/.exec(payload)?.[1] ?? '';
    expect(
      [...navigation.matchAll(/href="(.*?)"( aria-current="page")?/g)].map(([, path, current]) => [path, current]),
    ).toEqual([['/fine', ' aria-current="page"']]);
  });

  it('leads away from no form', async () => {
    const { payload } = await browse('/form', {}, { pages: [pageAt('/form', { layout: 'plain' })] });
    expect(payload).not.toMatch(/<nav|<footer/);
  });

  it('prints values as text', async () => {
    const { payload } = await browse(
      '/evil',
      {},
      { pages: [pageAt('/evil', { show: () => ({ value: '<script>x</script>' }) })] },
    );
    expect(payload).toContain('<p id="value">&lt;script&gt;x&lt;/script&gt;</p>');
  });

  it('loads the scripts that a page asks for', async () => {
    const { payload } = await browse(
      '/live',
      {},
      { pages: [pageAt('/live', { scripts: ['htmx.js', 'htmx-sse.js'] })] },
    );
    expect([...payload.matchAll(/<script defer src="\/assets\/[\w-]{12}\/(.*?)">/g)].map(([, name]) => name)).toEqual([
      'htmx.js',
      'htmx-sse.js',
    ]);
  });
});

describe('a page that cannot work is refused at the start', () => {
  it.each([
    [
      'a role that does not exist',
      pageAt('/x', { role: 'operators' as never }),
      'page "/x": role is "operators"; did you mean "operator"?',
    ],
    [
      'an icon that does not exist',
      pageAt('/x', { navigation: { label: 'test.title', icon: 'infos' as never } }),
      'page "/x": icon "infos" not found',
    ],
    ['a title that does not exist', pageAt('/x', { title: 'no.title' }), 'page "/x": text "no.title" not found'],
    ['a script that does not exist', pageAt('/x', { scripts: ['no.js'] }), 'page "/x": asset "no.js" not found'],
    ['a template that does not exist', pageAt('/x', { template: '/no.eta' }), 'page "/x": template /no.eta not found'],
    ['a path of model calls', pageAt('/v1/x'), 'page "/v1/x": pages cannot be below /v1'],
    [
      'a path with a placeholder that a listed page would link to',
      pageAt('/x/{id}', { within: '/fine' }),
      'page "/x/{id}": its path has a placeholder, so no page can link to it; omit `within` and `navigation`',
    ],
    ['a path that another page has', pageAt('/fine'), 'page "/fine" is registered twice'],
  ])('for %s', async (_why, page, message) => {
    await expect(serve({ pages: [page] })).rejects.toThrow(message);
  });
});
