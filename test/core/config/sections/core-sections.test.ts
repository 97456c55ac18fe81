import { describe, expect, it } from 'vitest';
import { data, listen, plugins, service } from '#core/config/sections/core-sections.ts';
import { aliases, models } from '#core/config/sections/models-section.ts';
import { telemetrySection } from '#core/config/sections/telemetry-section.ts';
import { mistakesIn, mistakesInWhole, read } from '../fixture.ts';

/** Ten routes that are in order, for a mistake at the eleventh. */
const tenRoutes = Array.from({ length: 10 }, (_, index) => `one/${index}`);

/** The mistakes of a model whose upstream `one` speaks these formats; `two` speaks chat and responses. */
const spoken = (formats: string, model: string) =>
  mistakesIn(
    `upstreams: { one: { format: ${formats}, base_url: "http://x" }, two: { vendor: openai } }\nmodels: { test: ${model} }`,
  );

describe('a missing section', () => {
  it.each([
    ['service', service, { name: 'Daypass', prefix: 'dp', unsafe_public_demo: false, time_zone: 'Asia/Jakarta' }],
    ['data', data, { folder: './data', min_free_bytes: 536_870_912 }],
    ['plugins', plugins, []],
  ])('has its defaults: %s', (_name, section, value) => {
    expect(read('').get(section)).toEqual(value);
  });

  it('has its defaults when it is empty', () => {
    expect(read('listen:').get(listen).port).toBe(8080);
  });

  it('has those of its members when no plugin has registered it', () => {
    const signals = ['traces', 'metrics', 'records'];
    expect(read('').get(telemetrySection)).toMatchObject({ endpoint: '', signals, sample: 1, stages: false });
  });

  it('is a mistake when it has no default', () => {
    expect(mistakesInWhole('pipeline: [auth]')).toEqual([
      'gateway.yaml:1:1 upstreams: is missing; add it: Upstreams that requests can be sent to, by name.',
      'gateway.yaml:1:1 models: is missing; add it: Models that clients can request, by short name. Clients see them as PREFIX/NAME.',
    ]);
  });

  it('is a mistake when it is empty and has no default', () => {
    expect(mistakesIn('models:')).toEqual([
      'gateway.yaml:1:8 models: is missing; add it: Models that clients can request, by short name. Clients see them as PREFIX/NAME.',
    ]);
  });
});

describe('the sections service, listen, data and plugins', () => {
  it.each([
    ['a misspelt section', 'servce: {}', '1:1 servce: is not a known key; did you mean "service"?'],
    [
      'a section that is like no other',
      'billing: {}',
      '1:1 billing: is not a known key; use one of: service, listen, data, memory, plugins, upstreams, models, aliases, pipeline',
    ],
    [
      'a section of a plugin whose folder is not there',
      'midtrans: {}',
      '1:1 midtrans: belongs to the plugin "midtrans", which this gateway does not have; remove it, or restore plugins/midtrans',
    ],
    ['a misspelt key', 'service: { nmae: x }', '1:12 service.nmae: is not a known key; did you mean "name"?'],
    ['a list for a section', 'service: [x]', '1:10 service: is a list; must be a map, such as { name: … }'],
    ['an empty name', 'service: { name: "" }', '1:18 service.name: is empty; needs at least 1'],
    ['a long name', `service: { name: ${'x'.repeat(61)} }`, '1:18 service.name: is too long; must have at most 60'],
    [
      'a prefix in upper case',
      'service: { prefix: DP }',
      '1:20 service.prefix: is "DP"; expected: First part of API keys (`dp-…`) and of models’ public names (`dp/…`): 1 to 16 lower-case letters and digits.',
    ],
    [
      'a base URL without a scheme',
      'service: { base_url: example.com }',
      '1:22 service.base_url: is "example.com"; must begin with https:// or http://',
    ],
    [
      'a contact that is no address',
      'service: { contact: me }',
      '1:21 service.contact: is "me"; expected: Where users get support: a mailto: or https: URL, such as https://wa.me/628111002233 for WhatsApp.',
    ],
    [
      'a number of WhatsApp without its country code',
      'service: { contact: "https://wa.me/0812-3456-7890" }',
      '1:21 service.contact: is "https://wa.me/0812-3456-7890", which does not lead to a WhatsApp account; write https://wa.me/ and the number with its country code, in digits only: https://wa.me/628111002233',
    ],
    ['a port that is too high', 'listen: { port: 65536 }', '1:17 listen.port: is 65536; must be at most 65535'],
    ['a negative port', 'listen: { port: -1 }', '1:17 listen.port: is -1; must be at least 0'],
    ['a port in words', 'listen: { port: http }', '1:17 listen.port: is "http"; must be an integer'],
    ['a tiny body', 'listen: { max_body_bytes: 10 }', '1:27 listen.max_body_bytes: is 10; must be at least 1024'],
    ['an empty folder', 'data: { folder: "" }', '1:17 data.folder: is empty; needs at least 1'],
    ['a number for a plugin', 'plugins: [5]', '1:11 plugins[0]: is 5; must be a string: put it in quotes'],
    ['one plugin without a list', 'plugins: ./a.ts', '1:10 plugins: is "./a.ts"; must be a list: write ["./a.ts"]'],
  ])('are refused with %s', (_name, text, line) => {
    expect(mistakesIn(text)).toEqual([`gateway.yaml:${line}`]);
  });

  it.each(['https://wa.me/628111002233?text=Halo', 'https://wa.me/message/ABC', 'https://wa.me/qr/ABC'])(
    'take the contact %s',
    (contact) => {
      expect(mistakesIn(`service: { contact: "${contact}" }`)).toEqual([]);
    },
  );

  it.each(['http://x.test:99999', 'http://[::1', 'https://me:pw@x.test', 'https://x.test/?a', 'https://x.test#a'])(
    'are refused with %s for where users reach the gateway',
    (address) => {
      expect(mistakesIn(`service: { base_url: "${address}" }`)).toEqual([
        'gateway.yaml:1:22 service.base_url: is not a valid base URL; use only scheme, host, port and path, such as https://ai.example.com',
      ]);
    },
  );

  it.each(['https://x.test/', 'x.test', 'https://x.test/path', ''])('are refused with "%s" for an origin', (origin) => {
    expect(mistakesIn(`listen: { cors_origins: ["${origin}"] }`)).toEqual([
      'gateway.yaml:1:26 listen.cors_origins[0]: is not an origin; use one such as https://app.example.com, or *',
    ]);
  });

  it.each(['*', 'https://x.test', 'http://localhost:3000'])('take the origin %s', (origin) => {
    expect(mistakesIn(`listen: { cors_origins: ["${origin}"] }`)).toEqual([]);
  });

  it.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/9', '10.0.0.0/x', '10.0.0', '::1/129', ''])(
    'are refused with "%s" for a trusted proxy',
    (proxy) => {
      expect(mistakesIn(`listen: { trusted_proxies: ["${proxy}"] }`)).toEqual([
        'gateway.yaml:1:29 listen.trusted_proxies[0]: is not an IP address or range; use one such as 10.0.0.0/8',
      ]);
    },
  );

  it.each(['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8'])('trust the proxy %s', (proxy) => {
    expect(mistakesIn(`listen: { trusted_proxies: ["${proxy}"] }`)).toEqual([]);
  });
});

describe('the section upstreams', () => {
  it.each([
    [
      'a misspelt vendor',
      '{ vendor: opnai }',
      '29 upstreams.one.vendor: names the vendor "opnai", which does not exist; did you mean "openai"?',
    ],
    [
      'a vendor that is like no other',
      '{ vendor: mistral }',
      '29 upstreams.one.vendor: names the vendor "mistral", which does not exist; use one of: openai, anthropic, demo, azure, painting',
    ],
    ['a misspelt key', '{ vndor: openai }', '21 upstreams.one.vndor: is not a known key; did you mean "vendor"?'],
    [
      'a misspelt format',
      '{ format: chatt, base_url: "http://x" }',
      '29 upstreams.one.format: is "chatt"; did you mean "chat"?',
    ],
    [
      'a misspelt format in a list',
      '{ format: [chat, mesages], base_url: "http://x" }',
      '36 upstreams.one.format[1]: is "mesages"; did you mean "messages"?',
    ],
    [
      'no format in the list',
      '{ format: [], base_url: "http://x" }',
      '29 upstreams.one.format: is empty; needs at least 1',
    ],
    [
      'a number for a format',
      '{ format: 5, base_url: "http://x" }',
      '29 upstreams.one.format: is 5; must be a string or a list',
    ],
    [
      'an invalid base URL',
      '{ format: chat, base_url: x }',
      '45 upstreams.one.base_url: is "x"; must begin with https:// or http://',
    ],
    [
      'a base URL whose port is impossible',
      '{ format: chat, base_url: "http://127.0.0.1:99999/v1" }',
      '45 upstreams.one.base_url: is not a valid URL: its host or port is invalid; use one such as https://llm.example.com:8443/v1',
    ],
    [
      'a base URL whose host is impossible',
      '{ vendor: openai, base_url: "https://[::1/v1" }',
      '47 upstreams.one.base_url: is not a valid URL: its host or port is invalid; use one such as https://llm.example.com:8443/v1',
    ],
    [
      'a base URL with a password',
      '{ format: chat, base_url: "http://me:sk-1@x.test/v1" }',
      '45 upstreams.one.base_url: contains a user or password, which would not be sent; put a key under api_keys, or set auth: none and put the Authorization header under headers',
    ],
    [
      'a base URL with a query',
      '{ format: chat, base_url: "http://x.test/v1?key=sk-1" }',
      '45 upstreams.one.base_url: has a query (?…), which would not be sent; remove it; keys belong under api_keys, other credentials under headers',
    ],
    [
      'a base URL with a fragment',
      '{ format: chat, base_url: "http://x.test/v1#top" }',
      '45 upstreams.one.base_url: has a fragment (#…), which would not be sent; remove it; keys belong under api_keys, other credentials under headers',
    ],
    [
      'neither a vendor nor a format',
      '{}',
      '19 upstreams.one: has neither a vendor nor a format; add vendor, or format and base_url',
    ],
    [
      'a format without an address',
      '{ format: chat }',
      '19 upstreams.one: has no base_url; add the URL of the endpoint, such as https://llm.example.com/v1',
    ],
    ['nothing in it', '', '20 upstreams.one: is empty; must be a map, such as { vendor: … }'],
    [
      'an unknown authentication',
      '{ vendor: openai, auth: baerer }',
      '43 upstreams.one.auth: is "baerer"; did you mean "bearer"?',
    ],
    [
      'one key without a list',
      '{ vendor: openai, api_keys: sk-1 }',
      '47 upstreams.one.api_keys: is a string; must be a list: put brackets around it',
    ],
    [
      'a header that is no text',
      '{ vendor: openai, headers: { x-a: 5 } }',
      '53 upstreams.one.headers.x-a: is a number; must be a string: put it in quotes',
    ],
    [
      'a header whose name is none',
      '{ vendor: openai, headers: { "x a": b } }',
      '55 upstreams.one.headers.x a: is not a valid header name; use letters, digits and hyphens',
    ],
    [
      'a line break in a header',
      '{ vendor: openai, headers: { x-a: "b\\nc" } }',
      '53 upstreams.one.headers.x-a: has a line break or a character that headers cannot carry; use printable ASCII on one line',
    ],
    [
      'a header outside Latin-1',
      '{ vendor: openai, headers: { x-a: "b…" } }',
      '53 upstreams.one.headers.x-a: has a line break or a character that headers cannot carry; use printable ASCII on one line',
    ],
    [
      'a header of the connection',
      '{ vendor: openai, headers: { Content-Length: "5" } }',
      '64 upstreams.one.headers.Content-Length: is set by the gateway; remove it',
    ],
    [
      'a line break in a key',
      '{ vendor: openai, api_keys: [sk-1, "sk-2\\n"] }',
      '54 upstreams.one.api_keys[1]: has a space or a line break; use only the key, as the vendor shows it',
    ],
    [
      'a key outside ASCII',
      '{ vendor: openai, api_keys: [sk-…] }',
      '48 upstreams.one.api_keys[0]: has a character that headers cannot carry; use only the key, as the vendor shows it',
    ],
  ])('is refused with %s, without further errors about its routes', (_name, upstream, line) => {
    expect(mistakesIn(`upstreams: { one: ${upstream} }`)).toEqual([`gateway.yaml:1:${line}`]);
  });

  it('is refused with a line break from a variable in a key, without showing the key', () => {
    expect(mistakesIn('upstreams: { one: { vendor: openai, api_keys: ["${KEY}"] } }', { KEY: 'sk-1\n' })).toEqual([
      'gateway.yaml:1:48 upstreams.one.api_keys[0]: has a space or a line break; use only the key, as the vendor shows it',
    ]);
  });

  it('is refused with a name that routes cannot contain', () => {
    expect(mistakesIn('upstreams: { "a/b": { vendor: openai } }')).toEqual([
      'gateway.yaml:1:14 upstreams.a/b: is not a valid name; expected: A letter or digit, followed by letters, digits, dots, hyphens and underscores.',
    ]);
  });

  it('may have a demo while NODE_ENV is not production', () => {
    expect(mistakesIn('upstreams: { one: { vendor: demo } }', { NODE_ENV: 'development' })).toEqual([]);
  });

  it('is refused with a demo in production', () => {
    expect(mistakesIn('upstreams: { one: { vendor: demo } }', { NODE_ENV: 'production' })).toEqual([
      'gateway.yaml:1:19 upstreams.one: is a demo upstream, which is not allowed with NODE_ENV=production; remove it and its routes',
    ]);
  });
});

describe('the section models', () => {
  it.each([
    [
      'no routes',
      '{}',
      '11 models.test.routes: is missing; add it: Where the model is served: UPSTREAM/MODEL, with the model’s name at the upstream. The first one is primary, the others are backups.',
    ],
    ['an empty list of routes', '{ routes: [] }', '27 models.test.routes: is empty; needs at least 1'],
    [
      'a route to a misspelt upstream',
      '{ routes: [oen/x] }',
      '28 models.test.routes[0]: refers to the upstream "oen", which does not exist; did you mean "one"?',
    ],
    [
      'a route to an upstream that is like no other',
      '{ routes: [somewhere/x] }',
      '28 models.test.routes[0]: refers to the upstream "somewhere", which does not exist; use one of: one',
    ],
    [
      'a route in a map to a misspelt upstream',
      '{ routes: [{ to: oen/x }] }',
      '34 models.test.routes[0].to: refers to the upstream "oen", which does not exist; did you mean "one"?',
    ],
    [
      'a route without a model',
      '{ routes: [one] }',
      '28 models.test.routes[0]: is "one"; write UPSTREAM/MODEL, such as openai/gpt-6-sol',
    ],
    [
      'a route that ends with the slash',
      '{ routes: [one/] }',
      '28 models.test.routes[0]: is "one/"; write UPSTREAM/MODEL, such as openai/gpt-6-sol',
    ],
    [
      'a route that begins with the slash',
      '{ routes: [/x] }',
      '28 models.test.routes[0]: is "/x"; write UPSTREAM/MODEL, such as openai/gpt-6-sol',
    ],
    ['a number for a route', '{ routes: [5] }', '28 models.test.routes[0]: is 5; must be a string or a map'],
    [
      'a negative weight',
      '{ routes: [{ to: one/x, weight: -1 }] }',
      '49 models.test.routes[0].weight: is -1; must be at least 0',
    ],
    [
      'a timeout of nothing',
      '{ routes: [{ to: one/x, idle_timeout: 0 }] }',
      '55 models.test.routes[0].idle_timeout: is 0; must be at least 0.1',
    ],
    [
      'a misspelt option of a route',
      '{ routes: [{ to: one/x, wieght: 1 }] }',
      '41 models.test.routes[0].wieght: is not a known key; did you mean "weight"?',
    ],
    [
      'a map without the route',
      '{ routes: [{ weight: 1 }] }',
      '28 models.test.routes[0].to: is missing; add it: UPSTREAM/MODEL, such as openai/gpt-6-sol.',
    ],
    [
      'resume, and nobody to go on',
      '{ routes: [one/x], resume: true }',
      '44 models.test.resume: has no other route to continue with; add a second route, or remove resume',
    ],
    ['half a token', '{ routes: [one/x], max_tokens: 0.5 }', '48 models.test.max_tokens: is 0.5; must be an integer'],
  ])('is refused with %s', (_name, model, line) => {
    expect(mistakesIn(`models: { test: ${model} }`)).toContainEqual(`gateway.yaml:1:${line}`);
  });

  it('is refused with a space in a name', () => {
    expect(mistakesIn('models: { "a b": { routes: [one/x] } }')).toEqual([
      'gateway.yaml:1:11 models.a b: is not a valid name; expected: A letter or digit, followed by any characters except spaces.',
    ]);
  });

  it('is refused with every invalid route, however many there are', () => {
    const routes = tenRoutes.with(1, '5').concat('{ to: one/x, wieght: 1 }');
    expect(mistakesIn(`models: { test: { routes: [${routes.join(', ')}] } }`)).toEqual([
      'gateway.yaml:1:35 models.test.routes[1]: is 5; must be a string or a map',
      expect.stringContaining('models.test.routes[10].wieght: is not a known key; did you mean "weight"?'),
    ]);
  });

  it.each([
    ['chat', 'adaptive', 'chat does', 'effort, thinking, thinking_off, enable_thinking, openrouter, none'],
    ['responses', 'thinking', 'responses does', 'effort, none'],
    ['messages', 'level', 'messages does', 'adaptive, budget, none'],
    ['gemini', 'effort', 'gemini does', 'budget, level, none'],
    ['[responses, messages]', 'level', 'responses and messages do', 'effort, none, adaptive, budget'],
  ])('is refused on %s with the reasoning quirk %s', (formats, way, who, ways) => {
    expect(spoken(formats, `{ routes: [{ to: one/a, quirks: { reasoning: ${way} } }] }`)).toEqual([
      `gateway.yaml:2:62 models.test.routes[0].quirks.reasoning: is "${way}", which ${who} not support; use one of: ${ways}`,
    ]);
  });

  it('is refused with a reasoning quirk that none of the routes supports', () => {
    expect(spoken('chat', '{ routes: [one/a, two/b], quirks: { reasoning: budget } }')).toEqual([
      'gateway.yaml:2:64 models.test.quirks.reasoning: is "budget", which chat and responses do not support; use one of: effort, thinking, thinking_off, enable_thinking, openrouter, none',
    ]);
  });

  it.each([
    ['one of the routes has', 'messages', '{ routes: [one/a, two/b], quirks: { reasoning: adaptive } }'],
    ['one of the formats has', '[messages, gemini]', '{ routes: [{ to: one/a, quirks: { reasoning: level } }] }'],
    ['means none', 'gemini', '{ routes: [one/a], quirks: { reasoning: none } }'],
    ['is for pictures only', 'images', '{ routes: [one/a], quirks: { reasoning: level } }'],
  ])('may have a reasoning quirk that %s', (_name, formats, model) => {
    expect(spoken(formats, model)).toEqual([]);
  });

  it('is refused with a name that already has the prefix', () => {
    const text = 'service: { prefix: rumah }\nmodels: { rumah/a: { routes: [one/a] }, dp/b: { routes: [one/b] } }';
    expect(mistakesIn(text)).toEqual([
      'gateway.yaml:2:20 models.rumah/a: begins with "rumah/", which clients see as the prefix of every name; write "a"',
    ]);
  });

  it('may have quirks for one of the formats', () => {
    const model =
      '{ routes: [{ to: one/a, quirks: { reasoning: effort, by_format: { messages: { reasoning: budget } } } }] }';
    expect(spoken('[chat, messages]', model)).toEqual([]);
  });

  it.each([
    [
      '{ mesages: { late_system: true } }',
      '73 models.test.routes[0].quirks.by_format.mesages: is for the format "mesages", which does not exist; did you mean "messages"?',
    ],
    [
      '{ messages: { reasoning: effort } }',
      '87 models.test.routes[0].quirks.by_format.messages.reasoning: is "effort", which messages does not support; use one of: adaptive, budget, none',
    ],
  ])('is refused with the quirks of a format %s', (quirks, mistake) => {
    expect(spoken('[chat, messages]', `{ routes: [{ to: one/a, quirks: { by_format: ${quirks} } }] }`)).toEqual([
      `gateway.yaml:2:${mistake}`,
    ]);
  });

  it.each(['[messages.]', '["a b"]', '[1]'])('is refused with members that have no such names: %s', (refuses) => {
    expect(spoken('chat', `{ routes: [{ to: one/a, quirks: { refuses: ${refuses} } }] }`)).toHaveLength(1);
  });

  it('of a vendor whose customers have URLs of their own needs one', () => {
    expect(mistakesIn('upstreams: { one: { vendor: azure, api_keys: [k] } }')).toEqual([
      expect.stringContaining('has no base_url; add the URL of your endpoint'),
    ]);
  });

  it('may have slashes in an upstream’s model name', () => {
    expect(read('models: { test: { routes: [one/org/model] } }').get(models)).toHaveProperty('test');
  });
});

describe('the values of a section', () => {
  it.each([
    ['that is written', 'aliases: { a: test }'],
    ['that is left out', ''],
  ])('%s cannot be changed', (_name, text) => {
    expect(() => Object.assign(read(text).get(aliases), { b: 'test' })).toThrow(TypeError);
  });

  it('cannot be changed deep inside', () => {
    const { test } = read('models: { test: { routes: [one/a] } }').get(models);
    expect(() => test?.routes.push('one/b')).toThrow(TypeError);
  });
});

describe('the section aliases', () => {
  it.each([
    [
      'one for a misspelt model',
      '{ a: tset }',
      ['15 aliases.a: refers to the model "tset", which does not exist; did you mean "test"?'],
    ],
    [
      'one for a public name',
      '{ a: dp/test }',
      ['15 aliases.a: refers to the model "dp/test", which does not exist; write "test", without the prefix'],
    ],
    [
      'one for a model that is like no other',
      '{ a: something }',
      ['15 aliases.a: refers to the model "something", which does not exist; use one of: test'],
    ],
    ['the name of a model', '{ test: test }', ['18 aliases.test: is the name of a model; give the alias another name']],
    [
      'the public name of a model',
      '{ dp/test: test }',
      ['21 aliases.dp/test: is the name under which clients see a model; give the alias another name'],
    ],
    ['one for itself', '{ a: a }', ['15 aliases.a: refers back to itself; point one of the aliases to a model']],
    [
      'two in a circle',
      '{ a: b, b: a }',
      [
        '15 aliases.a: refers back to itself; point one of the aliases to a model',
        '21 aliases.b: refers back to itself; point one of the aliases to a model',
      ],
    ],
    ['a number', '{ a: 5 }', ['15 aliases.a: is 5; must be a string: put it in quotes']],
    ['an empty text', '{ a: "" }', ['15 aliases.a: is empty; needs at least 1']],
  ])('is refused with %s', (_name, written, lines) => {
    expect(mistakesIn(`aliases: ${written}`)).toEqual(lines.map((line) => `gateway.yaml:1:${line}`));
  });

  it('has no mistakes reported while the models have some', () => {
    expect(mistakesIn('aliases: { a: test }\nmodels: { test: { routes: [] } }')).toEqual([
      'gateway.yaml:2:27 models.test.routes: is empty; needs at least 1',
    ]);
  });
});

describe('several mistakes', () => {
  it('are all reported at once, in the order of the file', () => {
    const text = `service: { nmae: x }
listen: { port: 70000 }
pipeline:
  - auht
models:
  test: { routes: [oen/x] }
aliases: { a: tset }
upstreams: { one: { vendor: opnai } }`;
    expect(mistakesIn(text)).toEqual([
      'gateway.yaml:1:12 service.nmae: is not a known key; did you mean "name"?',
      'gateway.yaml:2:17 listen.port: is 70000; must be at most 65535',
      'gateway.yaml:4:5 pipeline[0]: names the stage "auht", which does not exist; did you mean "auth"?',
      'gateway.yaml:6:20 models.test.routes[0]: refers to the upstream "oen", which does not exist; did you mean "one"?',
      'gateway.yaml:7:15 aliases.a: refers to the model "tset", which does not exist; did you mean "test"?',
      'gateway.yaml:8:29 upstreams.one.vendor: names the vendor "opnai", which does not exist; did you mean "openai"?',
    ]);
  });

  it('are all reported, in one section and in the sections that refer to it', () => {
    const text = `models: { demo: { routes: [dem/chatty], foo: 1 }, b: { routes: [nope/x] } }
upstreams: { demo: { vendor: demoo }, x: { format: chatt, base_url: "http://x" } }
aliases: { z: dmo }`;
    expect(mistakesIn(text)).toEqual([
      'gateway.yaml:1:28 models.demo.routes[0]: refers to the upstream "dem", which does not exist; did you mean "demo"?',
      'gateway.yaml:1:41 models.demo.foo: is not a known key; use one of: routes, display_name, kind, max_input_tokens, max_tokens, hedge_after, resume, capabilities, quirks',
      'gateway.yaml:1:65 models.b.routes[0]: refers to the upstream "nope", which does not exist; use one of: demo, x',
      'gateway.yaml:2:30 upstreams.demo.vendor: names the vendor "demoo", which does not exist; did you mean "demo"?',
      'gateway.yaml:2:52 upstreams.x.format: is "chatt"; did you mean "chat"?',
      'gateway.yaml:3:15 aliases.z: refers to the model "dmo", which does not exist; did you mean "demo"?',
    ]);
  });

  it('do not make references to their entry invalid', () => {
    const text = `upstreams: { one: { format: chat, base_url: 5 } }
models: { test: { routes: [one/a], max_tokens: x } }
aliases: { a: test, b: c, c: 5 }`;
    expect(mistakesIn(text)).toEqual([
      expect.stringContaining('upstreams.one.base_url: is 5'),
      expect.stringContaining('models.test.max_tokens: is "x"'),
      expect.stringContaining('aliases.c: is 5'),
    ]);
  });

  it('do not make a value missing whose key is misspelt', () => {
    expect(mistakesIn('upstreams: { one: { formt: chat, base_url: "http://x" } }')).toEqual([
      'gateway.yaml:1:21 upstreams.one.formt: is not a known key; did you mean "format"?',
    ]);
  });

  it('show keys that look like numbers as keys', () => {
    const text = 'upstreams: { "1": { foo: 1 } }\nmodels: { "2": { routes: [1/a, 5] } }';
    expect(mistakesIn(text)).toEqual([
      expect.stringMatching(/^gateway\.yaml:1:21 upstreams\.1\.foo: is not a known key/),
      expect.stringMatching(/^gateway\.yaml:2:32 models\.2\.routes\[1\]: is 5/),
    ]);
  });

  it('are reported together with an unknown key of the section', () => {
    expect(mistakesIn('listen: { prt: 1, trusted_proxies: [x] }')).toEqual([
      expect.stringContaining('listen.prt: is not a known key'),
      expect.stringContaining('listen.trusted_proxies[0]: is not an IP address or range'),
    ]);
  });
});
