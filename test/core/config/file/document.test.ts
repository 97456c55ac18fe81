import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDocument } from '#core/config/file/document.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';
import { mistakesIn, mistakesInWhole, read } from '../fixture.ts';

const nameOf = (text: string, environment: NodeJS.ProcessEnv) =>
  read(`service: { name: "${text}" }`, environment).get(service).name;

describe('an unreadable gateway.yaml', () => {
  it.each([
    ['nothing', ''],
    ['only comments', '# models:\n'],
    ['only a divider', '---\n'],
    ['null', 'null'],
  ])('is refused with %s in it', (_name, text) => {
    expect(mistakesInWhole(text)).toEqual(['gateway.yaml:1:1: is empty; start from the included gateway.yaml']);
  });

  it.each([
    ['a list', '- auth\n- plan\n'],
    ['a text', 'hello'],
  ])('is refused as %s', (_name, text) => {
    expect(mistakesInWhole(text)).toEqual([
      'gateway.yaml:1:1: is not a map; write sections such as "models:", each with its content',
    ]);
  });

  it('is refused when it does not exist, with the path as given', async () => {
    const file = join(tmpdir(), 'no-such-folder', 'gateway.yaml');
    await expect(readDocument(file, {})).rejects.toThrow(
      `${file}: does not exist; pass another file with --config FILE`,
    );
  });

  it('is refused when it cannot be read', async () => {
    await expect(readDocument(tmpdir(), {})).rejects.toThrow(
      `${tmpdir()}: is a folder; pass a file with --config FILE`,
    );
  });

  it('is refused with a second document', () => {
    expect(mistakesIn('service: { name: x }\n---\nlisten: {}')).toEqual([
      'gateway.yaml:2:1: has a second document; keep one and remove the ---',
    ]);
  });
});

describe('YAML', () => {
  it.each([
    [
      'a key that is there twice',
      'service:\n  name: a\n  name: b',
      'gateway.yaml:3:3 service.name: is a duplicate key: the other is on line 2; keep one of them',
    ],
    ['a tab', 'service:\n\tname: a', 'gateway.yaml:2:1: is indented with a tab; use spaces'],
    [
      'a line between two levels',
      'service:\n    name: x\n  prefix: y',
      'gateway.yaml:3:3: has inconsistent indentation; align it with its neighbours',
    ],
    [
      'a list that is not closed',
      'plugins: [a\nlisten: {}',
      'gateway.yaml:1:10: opens a [ that is not closed; close it with ]',
    ],
    [
      'a map that is not closed',
      'service: { name: a\nlisten: {}',
      'gateway.yaml:1:10: opens a { that is not closed; close it with }',
    ],
    [
      'a second colon on one line',
      'service:\n  name: a: b',
      'gateway.yaml:2:9: has a second ": " on one line; put the value in quotes, or start a new line',
    ],
    [
      'a list between two levels',
      'plugins:\n  - a\n - b',
      'gateway.yaml:3:2: has inconsistent indentation; align it with its neighbours',
    ],
    [
      'a tag of another program',
      'service: { name: !!js/function a }',
      'gateway.yaml:1:18: has an unknown tag (!); remove the tag',
    ],
    [
      'a quote that is not closed',
      'service: { name: "a }',
      'gateway.yaml:1:18: opens a quote (") that is not closed on its line; close it, or remove it',
    ],
    [
      'a variable without quotes in braces',
      'listen: { port: ${PORT} }',
      'gateway.yaml:1:18: has an unquoted variable inside braces or brackets; put it in quotes: "${NAME}"',
    ],
  ])('is refused with %s, in one line', (_name, text, line) => {
    expect(mistakesIn(text)).toEqual([line]);
  });

  it.each([
    [
      'seller: { name: "Toko\\0 Rani" }',
      '1:17 seller.name: has a NUL character (\\0), which text cannot contain; remove it',
    ],
    [
      'plans: [{ label: "\\uD83D" }]',
      '1:18 plans[0].label: has half of a surrogate pair (\\uD800 to \\uDFFF); write the character itself',
    ],
    ['service:\n  # a\0b\n  name: a', '2:6: has a NUL character, which text cannot contain; remove it'],
  ])('is refused with what no database stores: %j', (text, mistake) => {
    expect(mistakesIn(text)).toEqual([`gateway.yaml:${mistake}`]);
  });

  it('has characters that are written in two halves', () => {
    expect(nameOf('\\uD83D\\uDE00', {})).toBe('😀');
  });

  it('is refused with every duplicate key', () => {
    expect(mistakesIn('service: { name: a, name: b }\nlisten: { port: 1, port: 2 }')).toEqual([
      'gateway.yaml:1:21 service.name: is a duplicate key: the other is on line 1; keep one of them',
      'gateway.yaml:2:20 listen.port: is a duplicate key: the other is on line 2; keep one of them',
    ]);
  });

  it('is refused with anchors and aliases', () => {
    expect(mistakesIn('service: &us\n  name: a\nlisten: *us')).toEqual([
      'gateway.yaml:2:3 service: has an anchor (&us); remove it and write the value where it is used',
      'gateway.yaml:3:9 listen: refers to an anchor (*us); write the value out',
    ]);
  });

  it('is refused with an alias of an unknown anchor', () => {
    expect(mistakesIn('service: { name: *nobody }')).toEqual([
      'gateway.yaml:1:18 service.name: begins with *, which refers to an anchor in YAML; put it in quotes: "*nobody"',
    ]);
  });

  it('is refused with merged maps', () => {
    expect(mistakesIn('service:\n  <<: { name: a }')).toEqual([
      'gateway.yaml:2:3 service: merges another map; write the keys out',
    ]);
  });

  it('names list entries in the paths of anchors', () => {
    expect(mistakesIn('plugins:\n  - ./a.ts\n  - &b ./b.ts')).toEqual([
      'gateway.yaml:3:8 plugins[1]: has an anchor (&b); remove it and write the value where it is used',
    ]);
  });
});

describe('variables', () => {
  it.each([
    ['${NAME}', { NAME: 'Ours' }, 'Ours'],
    ['the ${NAME} of ${PLACE}', { NAME: 'gate', PLACE: 'Ur' }, 'the gate of Ur'],
    ['${NAME:-Daypass}', {}, 'Daypass'],
    ['${NAME:-Daypass}', { NAME: '' }, 'Daypass'],
    ['${NAME:-Daypass}', { NAME: 'Ours' }, 'Ours'],
    ['$${NAME}', { NAME: 'Ours' }, '${NAME}'],
    ['$NAME', { NAME: 'Ours' }, '$NAME'],
    ['${NAME}', { NAME: '${OTHER}', OTHER: 'x' }, '${OTHER}'],
    ['${NAME}', { NAME: 'a\nlisten: { port: 1 }' }, 'a\nlisten: { port: 1 }'],
  ])('are resolved in %s with %j to %j', (text, environment, value) => {
    expect(nameOf(text, environment)).toBe(value);
  });

  it('are to be set in .env when they hold a secret, which no default does', () => {
    expect(mistakesIn('service:\n  name: ${MIDTRANS_SERVER_KEY}')).toEqual([
      'gateway.yaml:2:9 service.name: the variable MIDTRANS_SERVER_KEY is not set; set it, in .env beside gateway.yaml or in the environment',
    ]);
  });

  it('are refused when unset, each by its name', () => {
    expect(mistakesIn('service:\n  name: ${NAME}\n  contact: mailto:${WHO}@${WHERE}')).toEqual([
      'gateway.yaml:2:9 service.name: the variable NAME is not set; set it, or give it a default: ${NAME:-…}',
      'gateway.yaml:3:12 service.contact: the variable WHO is not set; set it, or give it a default: ${WHO:-…}',
      'gateway.yaml:3:12 service.contact: the variable WHERE is not set; set it, or give it a default: ${WHERE:-…}',
    ]);
  });

  it.each(['${NAME', 'the ${NAME', '${na-me}', '${}', '${NAME:default}', '${NAME:-${OTHER}}'])(
    'are refused when they are none, such as %s',
    (text) => {
      expect(mistakesIn(`service: { name: "${text}" }`, { NAME: '', OTHER: 'x' })).toEqual([
        expect.stringMatching(/^gateway\.yaml:1:18 service\.name: has "\$\{.*", which is not a valid variable; write/),
      ]);
    },
  );

  it('are not replaced in keys and comments', () => {
    expect(mistakesIn('# ${NOBODY}\naliases: { "${NOBODY}": test }')).toEqual([]);
  });

  it.each(['${PORT}', '"${PORT}"', "'${PORT}'"])('become numbers where the schema requires one, as %s', (text) => {
    expect(read(`listen:\n  port: ${text}`, { PORT: '9000' }).get(listen).port).toBe(9000);
  });

  it.each(['', ' '])('do not become numbers when their value is "%s"', (value) => {
    expect(mistakesIn('listen:\n  port: ${PORT}', { PORT: value })).toEqual([
      expect.stringMatching(/^gateway\.yaml:2:9 listen\.port: (is|does not accept the value of) "\$\{PORT\}"/),
    ]);
  });

  it.each([
    ['high', '70000', 'must be at most 65535'],
    ['no number', 'http', 'must be an integer'],
  ])('are shown instead of their value when it is %s', (_name, port, right) => {
    expect(mistakesIn('listen:\n  port: ${PORT}', { PORT: port })).toEqual([
      `gateway.yaml:2:9 listen.port: does not accept the value of "\${PORT}"; ${right}`,
    ]);
  });

  it('hide no other mistake when unset, and cause no further ones', () => {
    const text = `service: { prefix: "\${PREFIX}" }
listen:
  port: \${PORT}
  drain_timeout: soon
pipeline: [auth, "\${STAGE}", auht, rate-limit: "\${OPTIONS}"]
upstreams:
  one: { vendor: "\${VENDOR}", base_url: "\${URL" }
  two: { vendor: openai, api_key: "\${KEY}" }
models: { test: { routes: [one/a, "\${ROUTE}", oen/a] } }
aliases: { a: "\${MODEL}", b: tset }`;
    const lines = mistakesIn(text);
    expect(lines.filter((line) => !/the variable \w+ is not set|not a valid variable/.test(line))).toEqual([
      'gateway.yaml:4:18 listen.drain_timeout: is "soon"; must be a number of seconds',
      'gateway.yaml:5:30 pipeline[2]: names the stage "auht", which does not exist; did you mean "auth"?',
      'gateway.yaml:8:26 upstreams.two.api_key: is not a known key; did you mean "api_keys"?',
      'gateway.yaml:9:47 models.test.routes[2]: refers to the upstream "oen", which does not exist; did you mean "one"?',
      'gateway.yaml:10:30 aliases.b: refers to the model "tset", which does not exist; did you mean "test"?',
    ]);
    expect(lines).toHaveLength(14);
  });

  it('do not hide that their key is unknown', () => {
    expect(mistakesIn('upstreams: { one: { vendor: openai, api_key: "${KEY}" } }', { KEY: 'sk-1' })).toEqual([
      'gateway.yaml:1:37 upstreams.one.api_key: is not a known key; did you mean "api_keys"?',
    ]);
  });
});

describe('a secret of the environment', () => {
  it.each([
    ['a stage', 'pipeline: ["${KEY}"]'],
    ['an option', 'pipeline: [auth, rate-limit: { limit: "${KEY}" }]'],
    ['a vendor', 'upstreams: { one: { vendor: "${KEY}" } }'],
    ['a format', 'upstreams: { one: { format: "${KEY}", base_url: "http://one.test" } }'],
    ['a base URL', 'upstreams: { one: { format: chat, base_url: "${KEY}" } }'],
    ['an authentication', 'upstreams: { one: { vendor: openai, auth: "${KEY}" } }'],
    ['a list of keys', 'upstreams: { one: { vendor: openai, api_keys: "${KEY}" } }'],
    ['an unknown key', 'upstreams: { one: { vendor: openai, token: "${KEY}" } }'],
    ['a route', 'models: { test: { routes: ["${KEY}"] } }'],
    ['the upstream of a route', 'models: { test: { routes: ["${KEY}/model"] } }'],
    ['the route of a map', 'models: { test: { routes: [{ to: "${KEY}/model" }] } }'],
    ['the target of an alias', 'aliases: { other: "${KEY}" }'],
    ['a trusted proxy', 'listen: { trusted_proxies: ["${KEY}"] }'],
    ['a contact', 'service: { contact: "${KEY}" }'],
  ])('is not shown when it is used as %s', (_name, text) => {
    const lines = mistakesIn(text, { KEY: 'sk-"quoted/secret"-1' });
    expect(lines).toEqual([expect.not.stringMatching(/sk-|quoted|secret/)]);
  });
});

describe('fingerprints', () => {
  it('are the same for another layout of the same content', () => {
    expect(read('service: { name: a }').fingerprint).toBe(read('# new\nservice:\n  name: "a"').fingerprint);
  });

  it('change with a variable', () => {
    const text = 'service: { name: "${NAME}" }';
    expect(read(text, { NAME: 'a' }).fingerprint).not.toBe(read(text, { NAME: 'b' }).fingerprint);
  });
});
