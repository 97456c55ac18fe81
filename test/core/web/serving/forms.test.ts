import { describe, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { defineForm, FieldErrors, type PageForm, Redirect } from '#core/web/pages/page.ts';
import { Browser, pageAt, pageHost, servePages, testTexts } from '../page-fixture.ts';

const fields = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    days: { type: 'integer', minimum: 1, maximum: 30 },
    agreed: { type: 'boolean', default: false },
  },
  required: ['name'],
} as const;

interface Setup {
  readonly form?: Partial<PageForm>;
  readonly settings?: Partial<Host>;
}

/** A browser on a page with a form at `/form`, and what its `submit` has got. */
async function openForm({ form = {}, settings = {} }: Setup = {}) {
  const inputs: unknown[] = [];
  const submit = (input: unknown) => {
    inputs.push(input);
    return new Redirect('/done');
  };
  const server = await servePages(pageHost(settings), ({ gateway }) => {
    gateway.texts(testTexts);
    gateway.page(pageAt('/form', { forms: [{ ...defineForm({ fields, submit }), ...form }] }));
    gateway.page(pageAt('/other', { forms: [defineForm({ fields, submit })] }));
  });
  return { server, inputs, browser: new Browser(server) };
}

const good = { name: 'Rani' };

describe('a form', () => {
  it('is answered, and leads on', async () => {
    const { browser, inputs } = await openForm();
    const { statusCode, headers } = await browser.send('/form', {
      name: ' Rani ',
      days: '7',
      agreed: 'true',
      more: 'x',
    });
    expect([statusCode, headers.location, headers['cache-control']]).toEqual([303, '/done', 'no-store']);
    expect(inputs).toEqual([{ name: 'Rani', days: 7, agreed: true }]);
  });

  it('counts a field that was left empty as not sent', async () => {
    const { browser, inputs } = await openForm();
    await browser.send('/form', { name: 'Rani', days: '' });
    expect(inputs).toEqual([{ name: 'Rani', agreed: false }]);
  });

  it('has no NUL, which the database does not take', async () => {
    const { browser, inputs } = await openForm();
    await browser.send('/form', { name: '\0Rani\0' });
    expect(inputs).toEqual([{ name: 'Rani', agreed: false }]);
  });

  it('is empty when it is first shown', async () => {
    const { browser } = await openForm();
    const { payload } = await browser.get('/form');
    expect(payload).toContain('<input name="name" value="">');
    expect(payload).toContain('<p id="error"></p>');
  });

  it('shows its page again with what is wrong, and keeps the input', async () => {
    const { browser, inputs } = await openForm();
    const { statusCode, payload } = await browser.send('/form', { name: 'Maharani"', days: 'x' });
    expect(statusCode).toBe(422);
    expect(payload).toContain('<input name="name" value="Maharani&quot;">');
    expect(payload).toContain('<p id="error">This is too long. Use at most 5 characters.</p>');
    expect(inputs).toEqual([]);
  });

  it.each([
    [{}, 'Fill in this field.'],
    [{ name: '  ' }, 'Fill in this field.'],
    [{ name: 'R' }, 'Check this field.'],
  ])('says of %j: %s', async (sent, text) => {
    const { browser } = await openForm();
    expect((await browser.send('/form', sent)).payload).toContain(`<p id="error">${text}</p>`);
  });

  it('is refused by what it does, in the language of the reader', async () => {
    const form = {
      submit: () => {
        throw new FieldErrors({ name: 'test.taken' });
      },
    };
    const { browser } = await openForm({ form });
    const { statusCode, payload } = await browser.send('/form', good, { 'accept-language': 'id' });
    expect([statusCode, payload.includes('<p id="error">Sudah dipakai.</p>')]).toEqual([422, true]);
  });

  it('can show its page with values', async () => {
    const { browser } = await openForm({ form: { submit: () => ({ value: 'once' }) } });
    const { statusCode, payload } = await browser.send('/form', good);
    expect([statusCode, payload.includes('<p id="value">once</p>')]).toEqual([200, true]);
  });

  it.each(['//evil.example', 'https://evil.example', '/\\evil.example', '/a b', 'javascript:alert(1)', '/\tx'])(
    'never leads to %s',
    async (path) => {
      const { browser } = await openForm({ form: { submit: () => new Redirect(path) } });
      expect((await browser.send('/form', good)).headers.location).toBe('/');
    },
  );

  it('of more than 64 KiB is refused', async () => {
    const { browser, inputs } = await openForm();
    const { statusCode } = await browser.send('/form', { ...good, more: 'x'.repeat(65 * 1024) });
    expect([statusCode, inputs]).toEqual([413, []]);
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])('as %s is refused', async (type) => {
    const { browser, inputs } = await openForm();
    const { statusCode } = await browser.send('/form', good, { 'content-type': type });
    expect([statusCode, inputs]).toEqual([415, []]);
  });
});

/** Status and heading of the answer to a form. */
const refused = async (browser: Browser, sent: Record<string, string>, headers: Record<string, string> = {}) => {
  const { statusCode, payload } = await browser.post('/form', sent, headers);
  return [statusCode, /<h1>(.*?)<\/h1>/.exec(payload)?.[1]];
};

describe('a form that no page of this gateway has sent', () => {
  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the domain', { 'sec-fetch-site': 'same-site' }],
    ['another origin, by an older browser', { origin: 'https://evil.example' }],
    ['an origin that hides', { origin: 'null' }],
    ['another port', { origin: 'http://localhost:1' }],
  ])('is refused from %s', async (_from, headers) => {
    const { browser, inputs } = await openForm();
    const token = await browser.token('/form', '/form');
    expect(await refused(browser, { ...good, form_token: token }, headers)).toEqual([
      403,
      'This form was sent from another site.',
    ]);
    expect(inputs).toEqual([]);
  });

  it.each([
    ['this site', { 'sec-fetch-site': 'same-origin' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['the host of the request', { host: 'localhost:8080', origin: 'http://localhost:8080' }],
    ['base_url behind a proxy', { host: '10.0.0.1:8080', origin: 'https://ai.example' }],
    ['a browser that says neither', {}],
  ])('is accepted from %s', async (_from, headers) => {
    const service = { name: 'D', prefix: 'dp', slug: 'd', baseUrl: 'https://ai.example', contact: undefined };
    const { browser, inputs } = await openForm({ settings: { service } });
    const { statusCode } = await browser.send('/form', good, headers);
    expect([statusCode, inputs.length]).toEqual([303, 1]);
  });

  it.each([
    ['no token', undefined],
    ['an empty token', ''],
    ['nonsense', 'a.b.c'],
    ['a token with another signature', 'swap'],
  ])('is refused with %s', async (_what, change) => {
    const { browser, inputs } = await openForm();
    const token = await browser.token('/form', '/form');
    const sent = change === 'swap' ? token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) : change;
    expect(await refused(browser, { ...good, ...(sent !== undefined && { form_token: sent }) })).toEqual([
      403,
      'This form is no longer valid.',
    ]);
    expect(inputs).toEqual([]);
  });

  it('is refused with a token for another form', async () => {
    const { browser } = await openForm();
    expect((await refused(browser, { ...good, form_token: await browser.token('/other', '/other') }))[0]).toBe(403);
  });

  it('is refused with a token of another browser', async () => {
    const { browser, server } = await openForm();
    const token = await new Browser(server).token('/form', '/form');
    await browser.get('/form');
    expect((await refused(browser, { ...good, form_token: token }))[0]).toBe(403);
  });

  it('is refused by a browser without cookies', async () => {
    const { browser } = await openForm();
    const token = await browser.token('/form', '/form');
    browser.cookies.clear();
    expect((await refused(browser, { ...good, form_token: token }))[0]).toBe(403);
  });

  it('is refused a day after its page was opened', async () => {
    let now = 1_800_000_000_000;
    const { browser } = await openForm({ settings: { now: () => now } });
    const token = await browser.token('/form', '/form');
    now += 24 * 60 * 60 * 1000;
    expect((await browser.post('/form', { ...good, form_token: token })).statusCode).toBe(303);
    now += 2_000;
    expect(await refused(browser, { ...good, form_token: token })).toEqual([403, 'This form has expired.']);
  });

  it('leads back to its page', async () => {
    const { browser } = await openForm();
    const { payload } = await browser.post('/form', good);
    expect(payload).toContain('<a class="button primary" href="/form">Open the form again</a>');
  });

  it('is refused as JSON where JSON is wanted', async () => {
    const { browser } = await openForm();
    const { payload } = await browser.post('/form', good, { accept: 'application/json' });
    expect(JSON.parse(payload)).toMatchObject({
      error: { code: 'forbidden', message: /^This form is no longer valid\./ },
    });
  });
});

describe('a form that counts once', () => {
  it('is answered once, however often it is sent', async () => {
    const { browser, inputs } = await openForm({ form: { once: true } });
    const sent = { ...good, form_token: await browser.token('/form', '/form') };
    const responses = await Promise.all([1, 2, 3].map(() => browser.post('/form', sent)));
    expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 409, 409]);
    expect(inputs).toHaveLength(1);
    const again = await browser.post('/form', sent);
    expect(again.payload).toContain('<h1>This form has already been sent.</h1>');
  });

  it('counts again when it is opened again', async () => {
    const { browser, inputs } = await openForm({ form: { once: true } });
    await browser.send('/form', good);
    await browser.send('/form', good);
    expect(inputs).toHaveLength(2);
  });

  it('can be sent again after it has failed', async () => {
    let failures = 1;
    const submit = () => {
      if (failures-- > 0) throw new Error('the database is away');
      return new Redirect('/done');
    };
    const { browser } = await openForm({ form: { once: true, submit } });
    const sent = { ...good, form_token: await browser.token('/form', '/form') };
    const statuses = [await browser.post('/form', sent), await browser.post('/form', sent)];
    expect(statuses.map(({ statusCode }) => statusCode)).toEqual([500, 303]);
  });

  it('can be sent again after its fields were wrong', async () => {
    const { browser } = await openForm({ form: { once: true } });
    const form_token = await browser.token('/form', '/form');
    expect((await browser.post('/form', { form_token })).statusCode).toBe(422);
    expect((await browser.post('/form', { ...good, form_token })).statusCode).toBe(303);
  });
});
