/** The address of a gateway that looks like a key. */
export const maskUrl = 'https://ai.example/d1a2b3c4d5e6f7a8b9c0';

/** Lines of files, and what both scripts show of them. */
export const maskCases: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['a list below a name', 'api_keys = [\n  "S3cret",\n"S3cret"\n]\na = 1', 'api_keys = [\n  ***\n***\n]\na = 1'],
  ['a list of YAML', 'tokens:\n  - S3cret\n# b\n- S3cret\na: 1', 'tokens:\n  ***\n# b\n***\na: 1'],
  ['a text of YAML', 'password: |\n  S3cret\n\n  S3cret\na: 1', 'password: |\n  ***\n\n  ***\na: 1'],
  ['a table of TOML', '[auth.tokens]\ngithub = "S3cret"\n[b]\na = 1', '[auth.tokens]\n***\n[b]\na = 1'],
  ['tables of TOML', '[[api_keys]]\nvalue = "S3cret"\n[b]\na = 1', '[[api_keys]]\n***\n[b]\na = 1'],
  ['an object', '"secrets": {\n "a": "S3cret",\n "b": ["S3cret"]\n},\n"c": 1', '"secrets": {\n ***\n ***\n},\n"c": 1'],
  ['a text of TOML', 'secret = """\nS3cret\n"""\na = 1', 'secret = ***\n***\n***\na = 1'],
  ['arguments', '["--api-key", "S3cret", "--a"]', '["--api-key", ***, "--a"]'],
  [
    'members on one line',
    '{"a":{"apiKey":"S3cret"},"b":1,"list":[{"token":"S3cret" } , {"c":2}], "key":"S3cret", /* d */ "e": 3 }',
    '{"a":{"apiKey": ***},"b":1,"list":[{"token": *** } , {"c":2}], "key": ***, /* d */ "e": 3 }',
  ],
  ['the last member', '{ "e": 3, "key":"S3cret" } }\na', '{ "e": 3, "key": *** } }\na'],
  ['what is joined to a text', 'key = "S3cret"S3cret, "a"', 'key = ***'],
  ['arguments below each other', '"--token",\n"S3cret",\n"a"', '"--token",\n***\n"a"'],
  ['a line that goes on', 'export KEY=\\\nS3cret', 'export KEY=\\\n***'],
  [
    'a private key',
    '-----BEGIN X KEY-----\nS3cret\nS3cret=\n-----END X KEY-----\na',
    '-----BEGIN ***\n***\n***\n***\na',
  ],
  ['a private key in a line', '"-----BEGIN X-----\\nS3cret\\n-----END X-----"\na', '"-----BEGIN ***\na'],
  [
    'base64',
    '"TWFuIGlzIGRpc3Rpbmd1aXNo+S3cret\n  ZCwgbm90IG9ubHkgYnkgaGlz\n  S3cret="\nthe end',
    '"***\n  ***\n  ***\nthe end',
  ],
  ['a URL', 'url = "https://user:S3cret@host/x"', 'url = "https://***@host/x"'],
  ['headers', '"Bearer S3cret1", "Basic dXNlcjpTM2NyZXQ="', '"Bearer ***", "Basic ***"'],
  ['known keys', 'ghp_S3cretS3 xoxb-1-S3cret AKIAS3CRET77 eyJh.S3cret-x', '*** *** *** ***'],
  ['a UUID', 'id: 0b5e9a3c-1f2d-4c5b-8a7e-9d0c1b2a3f4e', 'id: ***'],
  ['a digest', 'sha512-abcDEF0123456789S3cret/abc+def==', '***'],
  ['no limits', '"max_tokens": 4096, "maxOutputTokens" : 32 }', '"max_tokens": 4096, "maxOutputTokens" : 32 }'],
  [
    'no names',
    '/home/ana/node_modules/x claude-sonnet-4-5-20250929',
    '/home/ana/node_modules/x claude-sonnet-4-5-20250929',
  ],
  ['no sentences', '# Basic usage of Bearer', '# Basic usage of Bearer'],
  ['nothing of ours', `${maskUrl}/v1 dp/a1b2c3d4e5f6a7b8c9d0`, `${maskUrl}/v1 dp/a1b2c3d4e5f6a7b8c9d0`],
];
