/** A valid gateway.yaml, with most of what an operator writes. */
export const intact = `service:
  name: Daypass
  prefix: dp
  base_url: https://ai.example.com
listen:
  host: 127.0.0.1
  port: 8080
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 60, period: 60 }
  - format
  - upstream: { first_byte_timeout: 60, deadline: 180 }
  - log: { keep_days: 30 }
upstreams:
  openai: { vendor: openai, api_keys: [sk-first] }
  claude:
    vendor: anthropic
    api_keys:
      - sk-second
  own: { format: chat, base_url: "https://llm.example.com/v1" }
models:
  gpt-6-sol: { routes: [openai/gpt-6-sol] }
  claude-sonnet:
    routes:
      - claude/claude-sonnet-5-5
      - openai/gpt-6-sol
aliases:
  "claude-*": claude-sonnet
  gpt: gpt-6-sol
plans:
  - { days: 1, price: 18000, label: for trying out }
  - days: 30
    price: 289000
operator:
  token: 0123456789abcdefx
payments: { provider: none }
`;

/** What a tired operator mistypes. */
export interface TypingError {
  readonly name: string;
  /** The text of the intact file that is replaced by `typed`. */
  readonly meant: string;
  readonly typed: string;
  /** Every line that the operator reads, without the name of the file. */
  readonly answer: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

type Row = readonly [
  name: string,
  meant: string,
  typed: string,
  answer: readonly string[],
  environment?: NodeJS.ProcessEnv,
];

const rows: readonly Row[] = [
  [
    'a base URL with the path of Chat',
    'example.com/v1"',
    'example.com/v1/chat/completions"',
    [
      '21:34 upstreams.own.base_url: ends in /chat/completions, the path of an endpoint; remove it: the gateway appends the path of the format',
    ],
  ],
  [
    'a base URL with the path of Messages',
    'vendor: anthropic',
    'vendor: anthropic\n    base_url: https://api.anthropic.com/v1/messages',
    [
      '19:15 upstreams.claude.base_url: ends in /messages, the path of an endpoint; remove it: the gateway appends the path of the format',
    ],
  ],
  [
    'a base URL with the path of Responses and a slash',
    'vendor: anthropic',
    'vendor: anthropic\n    base_url: https://x.example/v1/responses/',
    [
      '19:15 upstreams.claude.base_url: ends in /responses/, the path of an endpoint; remove it: the gateway appends the path of the format',
    ],
  ],
  [
    'a base URL with a model and a method of Gemini',
    'format: chat, base_url: "https://llm.example.com/v1"',
    'format: gemini, base_url: "https://g.example/v1beta/models/gemini-3.8-flash:generateContent"',
    [
      '21:36 upstreams.own.base_url: ends in /models/gemini-3.8-flash:generateContent, the path of an endpoint; remove it: the gateway appends the path of the format',
    ],
  ],
  [
    'a public URL with /v1',
    'ai.example.com',
    'ai.example.com/v1',
    ['4:13 service.base_url: ends in /v1, which the gateway appends; remove /v1'],
  ],
  [
    'a format that the vendor does not speak',
    'vendor: anthropic',
    'vendor: anthropic\n    format: chat',
    [
      '19:13 upstreams.claude.format: is "chat", which Anthropic does not speak at its usual URL; use messages, or add the base_url of an endpoint for chat',
    ],
  ],
  [
    'the same route twice',
    '- openai/gpt-6-sol',
    '- claude/claude-sonnet-5-5',
    ['27:9 models.claude-sonnet.routes[1]: lists the route "claude/claude-sonnet-5-5" twice; keep one of them'],
  ],
  [
    'the same route twice, once with options',
    '- openai/gpt-6-sol',
    '- { to: claude/claude-sonnet-5-5, weight: 2 }',
    ['27:9 models.claude-sonnet.routes[1]: lists the route "claude/claude-sonnet-5-5" twice; keep one of them'],
  ],
  [
    'a timeout above the deadline',
    'first_byte_timeout: 60',
    'first_byte_timeout: 600',
    [
      '13:37 pipeline[4].upstream.first_byte_timeout: is 600 s, longer than the deadline of 180 s for all attempts together; shorten it, or raise the deadline of the stage upstream',
    ],
  ],
  [
    'a deadline below the connect timeout',
    'first_byte_timeout: 60, deadline: 180',
    'connect_timeout: 30, deadline: 10',
    [
      '13:34 pipeline[4].upstream.connect_timeout: is 30 s, longer than the deadline of 10 s for all attempts together; shorten it, or raise the deadline of the stage upstream',
    ],
  ],
  [
    'a timeout of a route above the deadline',
    '- openai/gpt-6-sol',
    '- { to: openai/gpt-6-sol, first_byte_timeout: 600 }',
    [
      '27:53 models.claude-sonnet.routes[1].first_byte_timeout: is 600 s, longer than the deadline of 180 s for all attempts together; shorten it, or raise the deadline of the stage upstream',
    ],
  ],
  [
    'hedging after the deadline',
    'gpt-6-sol: { routes',
    'gpt-6-sol: { hedge_after: 600, routes',
    [
      '23:29 models.gpt-6-sol.hedge_after: is 600 s, longer than the deadline of 180 s for all attempts together; shorten it, or raise the deadline of the stage upstream',
    ],
  ],
  [
    'a pattern for a model name',
    '  gpt-6-sol: {',
    '  "openai/*": {',
    [
      '23:15 models.openai/*: contains a *, but model names are matched exactly; name one model here, and put patterns such as "gpt-*" under aliases',
      '30:8 aliases.gpt: refers to the model "gpt-6-sol", which does not exist; use one of: openai/*, claude-sonnet',
    ],
  ],
  [
    'a pattern for a route',
    '[openai/gpt-6-sol]',
    '["openai/*"]',
    [
      '23:25 models.gpt-6-sol.routes[0]: is "openai/*", and the upstream would get the * in the name; write the name of one model of the upstream',
    ],
  ],
  [
    'a pattern for the model of an alias',
    'gpt: gpt-6-sol',
    'gpt: "gpt-*"',
    ['30:8 aliases.gpt: refers to the model "gpt-*", which does not exist; use one of: gpt-6-sol, claude-sonnet'],
  ],
  [
    'no log stage',
    '  - log: { keep_days: 30 }\n',
    '',
    ['8:1 pipeline: has no stage for recording requests; add log to the list, or "log: false" to do without'],
  ],
  [
    'no upstream stage',
    '  - upstream: { first_byte_timeout: 60, deadline: 180 }\n',
    '',
    [
      '8:1 pipeline: has no stage for sending model calls to an upstream; add upstream to the list, or "upstream: false" to do without',
    ],
  ],
  [
    'a URL for a host',
    '127.0.0.1',
    'http://127.0.0.1',
    ['6:9 listen.host: is a URL; write only an address, such as 127.0.0.1, or 0.0.0.0 for all interfaces'],
  ],
  [
    'a host with a port',
    '127.0.0.1',
    '127.0.0.1:8080',
    ['6:9 listen.host: contains a port; put the port under `port`'],
  ],
  [
    'a host with a path',
    '127.0.0.1',
    'ai.example.com/v1',
    [
      '6:9 listen.host: is not a valid address; write only an address, such as 127.0.0.1, or 0.0.0.0 for all interfaces',
    ],
  ],
  [
    'no colon in the middle of a section',
    '  prefix: dp',
    '  prefix dp',
    ['3:3: has no colon after "prefix"; write "prefix: …"'],
  ],
  [
    'no colon in the first line of a section',
    '  name: Daypass',
    '  name Daypass',
    ['2:3: has no colon after "name"; write "name: …"'],
  ],
  [
    'no colon in the only line of a section',
    'operator:\n  token: 0123456789abcdefx',
    'operator:\n  token 0123456789abcdefx',
    ['36:3 operator: is a string; must be a map: write "token: …"'],
  ],
  [
    'no colon after the name of a section',
    'listen:\n',
    'listen\n',
    ['5:1: has no colon after "listen"; write "listen: …"'],
  ],
  [
    'no colon in an entry of a list',
    '    price: 289000',
    '    price 289000',
    ['34:5: has no colon after "price"; write "price: …"'],
  ],
  ['no space after a colon', '  prefix: dp', '  prefix:dp', ['3:3: has no space after "prefix:"; write "prefix: …"']],
  [
    'no space after the first colon',
    '  name: Daypass',
    '  name:Daypass',
    ['2:3: has no space after "name:"; write "name: …"'],
  ],
  [
    'no space after a colon in braces',
    'days: 1,',
    'days:1,',
    ['32:7 plans[0].days:1: has no space after "days:"; write "days: …"'],
  ],
  [
    'no space after the only colon',
    'operator:\n  token: 0123456789abcdefx',
    'operator:\n  token:0123456789abcdefx',
    ['36:3 operator: is a string; must be a map: write "token: …"'],
  ],
  ['no space after the first dash', '  - auth', '  -auth', ['9:3: has no space after the dash; write "- auth"']],
  ['no space after a dash', '  - format', '  -format', ['12:3: has no space after the dash; write "- format"']],
  [
    'a comma inside a number',
    'price: 289000',
    'price: 289,000',
    ['34:12 plans[1].price: is "289,000"; must be an integer: 289000'],
  ],
  [
    'a comma inside a number in braces',
    'price: 18000',
    'price: 18,000',
    ['32:23 plans[0].price: has a comma inside a number; write 18000'],
  ],
  [
    'a dot between thousands',
    'price: 289000',
    'price: 289.000',
    ['34:12 plans[1].price: is 289.000, which YAML reads as 289; write 289000, or 289'],
  ],
  [
    'dots between thousands',
    'price: 289000',
    'price: 1.289.000',
    ['34:12 plans[1].price: is "1.289.000"; must be an integer: 1289000'],
  ],
  [
    'an underscore inside a number',
    'price: 289000',
    'price: 289_000',
    ['34:12 plans[1].price: is "289_000"; must be an integer: 289000'],
  ],
  [
    'a space inside a number',
    'price: 289000',
    'price: 289 000',
    ['34:12 plans[1].price: is "289 000"; must be an integer: 289000'],
  ],
  [
    'a currency before a number',
    'price: 289000',
    'price: Rp289000',
    ['34:12 plans[1].price: is "Rp289000"; must be an integer'],
  ],
  ['a comma after a number', 'port: 8080', 'port: 8080,', ['7:9 listen.port: is "8080,"; must be an integer: 8080']],
  [
    'seconds with their unit',
    'first_byte_timeout: 60',
    'first_byte_timeout: 60s',
    ['13:37 pipeline[4].upstream.first_byte_timeout: is "60s"; must be a number of seconds: 60'],
  ],
  [
    'milliseconds for seconds',
    'first_byte_timeout: 60',
    'first_byte_timeout: 500ms',
    ['13:37 pipeline[4].upstream.first_byte_timeout: is "500ms"; must be a number of seconds: 0.5'],
  ],
  [
    'a minute for seconds',
    'period: 60',
    'period: minute',
    ['11:38 pipeline[2].rate-limit.period: is "minute"; must be a number of seconds: 60'],
  ],
  [
    'minutes for seconds',
    'period: 60',
    'period: 5m',
    ['11:38 pipeline[2].rate-limit.period: is "5m"; must be a number of seconds: 300'],
  ],
  [
    'days with their unit',
    'keep_days: 30',
    'keep_days: 30d',
    ['14:23 pipeline[5].log.keep_days: is "30d"; must be a whole number of days: 30'],
  ],
  [
    'megabytes for bytes',
    'port: 8080',
    'port: 8080\n  max_body_bytes: 10MB',
    ['8:19 listen.max_body_bytes: is "10MB"; must be a whole number of bytes: 10485760'],
  ],
  [
    'a percentage',
    'deadline: 180',
    'deadline: 180, retry_share: 10%',
    ['13:69 pipeline[4].upstream.retry_share: is "10%"; must be a number: 0.1'],
  ],
  ['a number in words', 'port: 8080', 'port: eighty', ['7:9 listen.port: is "eighty"; must be an integer']],
  ['a number in quotes', 'port: 8080', 'port: "8080"', ['7:9 listen.port: is "8080"; must be an integer: 8080']],
  [
    'yes for true',
    'gpt-6-sol: { routes',
    'gpt-6-sol: { resume: yes, routes',
    ['23:24 models.gpt-6-sol.resume: is "yes"; must be true or false: write true, without quotes'],
  ],
  [
    'true in quotes',
    'gpt-6-sol: { routes',
    'gpt-6-sol: { resume: "true", routes',
    ['23:24 models.gpt-6-sol.resume: is "true"; must be true or false: write true, without quotes'],
  ],
  [
    'an unquoted pattern',
    '"claude-*": claude-sonnet',
    '*-mini: claude-sonnet',
    ['29:3: begins with *, which refers to an anchor in YAML; put it in quotes, such as "*-mini"'],
  ],
  [
    'an unquoted star',
    '"claude-*": claude-sonnet',
    '*: claude-sonnet',
    ['29:3: begins with *, which refers to an anchor in YAML; put it in quotes, such as "*-mini"'],
  ],
  [
    'an unquoted pattern as value',
    '"claude-*": claude-sonnet',
    '"claude-*": *-mini',
    ['29:15 aliases.claude-*: begins with *, which refers to an anchor in YAML; put it in quotes: "*-mini"'],
  ],
  [
    'an unquoted pattern in brackets',
    'gpt-6-sol: { routes: [openai/gpt-6-sol] }',
    'gpt-6-sol: { routes: [*openai/gpt-6-sol] }',
    [
      '23:25 models.gpt-6-sol.routes[0]: begins with *, which refers to an anchor in YAML; put it in quotes: "*openai/gpt-6-sol"',
    ],
  ],
  [
    'typographic quotes in braces',
    '"https://llm.example.com/v1"',
    '“https://llm.example.com/v1”',
    [
      '21:34 upstreams.own.base_url: begins with a typographic quote (“), which is part of the text; use straight quotes: "…"',
    ],
  ],
  [
    'typographic quotes',
    'name: Daypass',
    'name: “Daypass”',
    ['2:9 service.name: begins with a typographic quote (“), which is part of the text; use straight quotes: "…"'],
  ],
  [
    'typographic quotes around a key',
    '"claude-*"',
    '“claude-*”',
    [
      '29:3 aliases.“claude-*”: begins with a typographic quote (“), which is part of the text; use straight quotes: "…"',
    ],
  ],
  [
    'single typographic quotes',
    'name: Daypass',
    'name: ‘Daypass’',
    ['2:9 service.name: begins with a typographic quote (‘), which is part of the text; use straight quotes: "…"'],
  ],
  [
    'a non-breaking space after the first colon',
    'name: Daypass',
    'name:\u00a0Daypass',
    ['2:8: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a non-breaking space after a colon',
    'prefix: dp',
    'prefix:\u00a0dp',
    ['3:10: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'non-breaking spaces as indentation',
    '  prefix: dp',
    '\u00a0\u00a0prefix: dp',
    ['3:1: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a non-breaking space in the indentation',
    '  prefix: dp',
    ' \u00a0prefix: dp',
    ['3:2: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a non-breaking space at the end of a line',
    'prefix: dp',
    'prefix: dp\u00a0',
    ['3:13: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a non-breaking space after a dash',
    '  - format',
    '  -\u00a0format',
    ['12:4: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a non-breaking space in braces',
    'days: 1,',
    'days:\u00a01,',
    ['32:12: has a non-breaking space (U+00A0); replace it by an ordinary space, or remove it'],
  ],
  [
    'a zero-width space in a key',
    'prefix: dp',
    'pre\u200bfix: dp',
    ['3:6: has a zero-width space (U+200B); replace it by an ordinary space, or remove it'],
  ],
  [
    'a zero-width space after an API key',
    '- sk-second',
    '- sk-second\u200b',
    ['20:18: has a zero-width space (U+200B); replace it by an ordinary space, or remove it'],
  ],
  [
    'a merge conflict',
    '  port: 8080\n',
    '<<<<<<< HEAD\n  port: 8080\n=======\n  port: 9090\n>>>>>>> other\n',
    ['7:1: begins a merge conflict (<<<<<<<); keep one side, and remove the lines <<<<<<<, ======= and >>>>>>>'],
  ],
  [
    'a merge conflict around a section',
    'listen:\n',
    '<<<<<<< HEAD\nlisten:\n=======\nlisten: \n>>>>>>> other\n',
    ['5:1: begins a merge conflict (<<<<<<<); keep one side, and remove the lines <<<<<<<, ======= and >>>>>>>'],
  ],
  [
    'an open quote',
    'name: Daypass',
    'name: "Daypass',
    ['2:9: opens a quote (") that is not closed on its line; close it, or remove it'],
  ],
  [
    'an open quote after which there is no other',
    '"claude-*": claude-sonnet\n  gpt: gpt-6-sol',
    'x: claude-sonnet\n  gpt: "gpt-6-sol',
    ['30:8: opens a quote (") that is not closed on its line; close it, or remove it'],
  ],
  [
    'an open single quote',
    'name: Daypass',
    "name: 'Daypass",
    ["2:9: opens a quote (') that is not closed on its line; close it, or remove it"],
  ],
  [
    'an open quote in the last line',
    'token: 0123456789abcdefx',
    'token: "0123456789abcdefx',
    ['36:10: opens a quote (") that is not closed on its line; close it, or remove it'],
  ],
  [
    'an open quote in brackets',
    '[openai/gpt-6-sol]',
    '["openai/gpt-6-sol]',
    ['23:25: opens a quote (") that is not closed on its line; close it, or remove it'],
  ],
  [
    'an open quote before another',
    '[sk-first]',
    '["sk-first, "sk-third"]',
    ['16:52: has no comma between two entries; put a comma before the second one'],
  ],
  [
    'text after a closing quote',
    'name: Daypass',
    'name: "Day"pass',
    ['2:14: continues after the closing quote; put the whole value in quotes, and write \\" for a quote inside it'],
  ],
  ['a tab', '  prefix: dp', '\tprefix: dp', ['3:1: is indented with a tab; use spaces']],
  [
    'tabs in three lines',
    '  name: Daypass\n  prefix: dp\n  base_url: https://ai.example.com',
    '\tname: Daypass\n\tprefix: dp\n\tbase_url: https://ai.example.com',
    [
      '2:1: is indented with a tab; use spaces',
      '3:1: is indented with a tab; use spaces',
      '4:1: is indented with a tab; use spaces',
    ],
  ],
  ['a tab before a dash', '  - auth', '\t- auth', ['9:1: is indented with a tab; use spaces']],
  ['two tabs', '    vendor: anthropic', '\t\tvendor: anthropic', ['18:1: is indented with a tab; use spaces']],
  [
    'a tab after spaces',
    '    vendor: anthropic',
    '  \tvendor: anthropic',
    ['18:3: is indented with a tab; use spaces'],
  ],
  [
    'an open bracket inside braces',
    '[openai/gpt-6-sol]',
    '[openai/gpt-6-sol',
    ['23:42: has a } where a ] is expected; close every [ with ] and every { with }'],
  ],
  [
    'an open brace',
    'gpt-6-sol: { routes: [openai/gpt-6-sol] }',
    'gpt-6-sol: { routes: [openai/gpt-6-sol]',
    ['23:14: opens a { that is not closed; close it with }'],
  ],
  [
    'an open brace in the last line',
    '  token: 0123456789abcdefx',
    '  { token: 0123456789abcdefx',
    ['36:3: opens a { that is not closed; close it with }'],
  ],
  [
    'a bracket too many',
    '[openai/gpt-6-sol]',
    '[openai/gpt-6-sol]]',
    ['23:42: has a ] where a } is expected; close every [ with ] and every { with }'],
  ],
  [
    'a brace too many',
    '[openai/gpt-6-sol] }',
    '[openai/gpt-6-sol] }}',
    ['23:44: has a } that closes nothing; remove it'],
  ],
  [
    'round brackets',
    '[openai/gpt-6-sol]',
    '(openai/gpt-6-sol)',
    ['23:24 models.gpt-6-sol.routes: is "(openai/gpt-6-sol)"; must be a list: write ["(openai/gpt-6-sol)"]'],
  ],
  [
    'no comma in braces',
    'days: 1, price',
    'days: 1 price',
    ['32:13: has no comma between two entries; put a comma before the second one'],
  ],
  [
    'two commas',
    'days: 1, price',
    'days: 1,, price',
    ['32:15: has a comma that follows nothing; remove one of the commas'],
  ],
  [
    'a semicolon for a comma',
    'days: 1, price',
    'days: 1; price',
    ['32:13: has no comma between two entries; put a comma before the second one'],
  ],
  [
    'an equals sign for a colon',
    '  prefix: dp',
    '  prefix = dp',
    ['3:3: has "=" after "prefix" instead of a colon; write "prefix: …"'],
  ],
  ['a line of JSON', '  prefix: dp', '  "prefix": "dp",', ['3:17: ends with a comma, as in JSON; remove the comma']],
  [
    'a line that is indented too far',
    '  prefix: dp',
    '   prefix: dp',
    ['3:4: is indented below a key that already has a value; align it with the line above'],
  ],
  [
    'a line that is not indented far enough',
    '  prefix: dp',
    ' prefix: dp',
    ['3:2: has inconsistent indentation; align it with its neighbours'],
  ],
  [
    'a line that is not indented',
    '  prefix: dp',
    'prefix: dp',
    ['4:3: is indented below a key that already has a value; align it with the line above'],
  ],
  [
    'a section that is indented',
    'listen:',
    '  listen:',
    [
      '5:3 service.listen: is not a known key; use one of: name, prefix, base_url, unsafe_public_demo, contact, terms, privacy, time_zone',
      '6:3 service.host: is not a known key; use one of: name, prefix, base_url, unsafe_public_demo, contact, terms, privacy, time_zone',
      '7:3 service.port: is not a known key; use one of: name, prefix, base_url, unsafe_public_demo, contact, terms, privacy, time_zone',
    ],
  ],
  [
    'a list of one without its dash',
    '      - sk-second',
    '      sk-second',
    ['20:7 upstreams.claude.api_keys: is a string; must be a list: put brackets around it'],
  ],
  ['an entry without its dash', '  - plan', '  plan', ['10:3: has no dash; write "- plan"']],
  ['a section with a dash', 'listen:', '- listen:', ['5:1: begins with a dash, but is not in a list; remove the dash']],
  ['a key without value', 'port: 8080', 'port:', ['7:8 listen.port: is empty; must be an integer']],
  [
    'an upstream without content',
    '    vendor: anthropic\n    api_keys:\n      - sk-second\n',
    '',
    ['17:10 upstreams.claude: is empty; must be a map, such as { vendor: … }'],
  ],
  [
    'routes without entries',
    '      - claude/claude-sonnet-5-5\n      - openai/gpt-6-sol\n',
    '',
    ['25:12 models.claude-sonnet.routes: is empty; must be a list: write [a, b]'],
  ],
  [
    'a dash without entry',
    '  - auth\n',
    '  -\n',
    ['9:4 pipeline[0]: is not a stage; write its name, or one name with options: "rate-limit: { limit: 60 }"'],
  ],
  [
    'a key that is there twice',
    '  prefix: dp',
    '  prefix: dp\n  prefix: ab',
    ['4:3 service.prefix: is a duplicate key: the other is in line 3; keep one of them'],
  ],
  [
    'a section that is there twice',
    'operator:\n',
    'listen:\n  port: 1\noperator:\n',
    ['35:1 listen: is a duplicate key: the other is in line 5; keep one of them'],
  ],
  [
    'a misspelled key',
    '  prefix: dp',
    '  prefx: dp',
    ['3:3 service.prefx: is not a known key; did you mean "prefix"?'],
  ],
  [
    'a capital letter in a key',
    '  prefix: dp',
    '  Prefix: dp',
    ['3:3 service.Prefix: is not a known key; did you mean "prefix"?'],
  ],
  [
    'a hyphen for an underscore',
    'base_url: https',
    'base-url: https',
    ['4:3 service.base-url: is not a known key; did you mean "base_url"?'],
  ],
  [
    'camel case',
    'base_url: https',
    'baseUrl: https',
    ['4:3 service.baseUrl: is not a known key; did you mean "base_url"?'],
  ],
  ['a misspelled pipeline', 'pipeline:', 'piplines:', ['8:1 piplines: is not a known key; did you mean "pipeline"?']],
  ['a misspelled section', 'operator:', 'operater:', ['35:1 operater: is not a known key; did you mean "operator"?']],
  [
    'a misspelled stage',
    '- format',
    '- fromat',
    ['12:5 pipeline[3]: names the stage "fromat", which does not exist; did you mean "format"?'],
  ],
  [
    'a stage twice',
    '- format',
    '- format\n  - format',
    ['13:5 pipeline[4]: lists the stage format twice; keep one of them'],
  ],
  [
    'stages in the wrong order',
    '  - auth\n  - plan',
    '  - plan\n  - auth',
    ['9:5 pipeline[0]: plan needs the fact principal, which no stage before it writes; put auth before plan'],
  ],
  [
    'options that are not indented below their stage',
    '- rate-limit: { limit: 60, period: 60 }',
    '- rate-limit:\n    limit: 60\n    period: 60',
    ['11:5 pipeline[2]: is not a stage; write its name, or one name with options: "rate-limit: { limit: 60 }"'],
  ],
  [
    'options as in a shell',
    '- rate-limit: { limit: 60, period: 60 }',
    '- rate-limit limit=60',
    [
      '11:5 pipeline[2]: names the stage "rate-limit limit=60", which does not exist; use one of: auth, cache, format, log, plan, rate-limit, upstream',
    ],
  ],
  [
    'a misspelled upstream',
    '[openai/gpt-6-sol]',
    '[opnai/gpt-6-sol]',
    ['23:25 models.gpt-6-sol.routes[0]: refers to the upstream "opnai", which does not exist; did you mean "openai"?'],
  ],
  [
    'a route without its upstream',
    '[openai/gpt-6-sol]',
    '[gpt-6-sol]',
    ['23:25 models.gpt-6-sol.routes[0]: is "gpt-6-sol"; write UPSTREAM/MODEL, such as openai/gpt-6-sol'],
  ],
  [
    'spaces around the slash of a route',
    '[openai/gpt-6-sol]',
    '[openai / gpt-6-sol]',
    [
      '23:25 models.gpt-6-sol.routes[0]: refers to the upstream "openai ", which does not exist; did you mean "openai"?',
    ],
  ],
  [
    'a route without its list',
    '[openai/gpt-6-sol]',
    'openai/gpt-6-sol',
    ['23:24 models.gpt-6-sol.routes: is "openai/gpt-6-sol"; must be a list: write ["openai/gpt-6-sol"]'],
  ],
  [
    'a colon and a space in a route',
    '[openai/gpt-6-sol]',
    '[openai/llama: 8b]',
    [
      '23:25 models.gpt-6-sol.routes[0].to: is missing; add it: UPSTREAM/MODEL, such as openai/gpt-6-sol.',
      '23:25 models.gpt-6-sol.routes[0].openai/llama: is not a known key; use one of: to, priority, weight, connect_timeout, first_byte_timeout, idle_timeout, max_input_tokens, cost, capabilities, quirks',
    ],
  ],
  [
    'an alias of an unknown model',
    'gpt: gpt-6-sol',
    'gpt: gpt-6.1-sol',
    ['30:8 aliases.gpt: refers to the model "gpt-6.1-sol", which does not exist; did you mean "gpt-6-sol"?'],
  ],
  [
    'an alias of itself',
    'gpt: gpt-6-sol',
    'gpt: gpt',
    ['30:8 aliases.gpt: refers back to itself; point one of the aliases to a model'],
  ],
  [
    'a misspelled vendor',
    'vendor: anthropic',
    'vendor: antropic',
    ['18:13 upstreams.claude.vendor: names the vendor "antropic", which does not exist; did you mean "anthropic"?'],
  ],
  [
    'a capital letter in a vendor',
    'vendor: anthropic',
    'vendor: Anthropic',
    ['18:13 upstreams.claude.vendor: names the vendor "Anthropic", which does not exist; did you mean "anthropic"?'],
  ],
  [
    'a misspelled format',
    'format: chat',
    'format: chats',
    ['21:18 upstreams.own.format: is "chats"; did you mean "chat"?'],
  ],
  [
    'a vendor for a format',
    'format: chat',
    'format: openai',
    [
      '21:18 upstreams.own.format: is "openai"; use one of: responses, messages, chat, gemini, ollama, completions, embeddings, gemini-embeddings, images, speech, transcriptions, moderations, rerank',
    ],
  ],
  [
    'an API key without its list',
    '[sk-first]',
    'sk-first',
    ['16:39 upstreams.openai.api_keys: is a string; must be a list: put brackets around it'],
  ],
  [
    'an API key of digits',
    '[sk-first]',
    '[1234567890123]',
    ['16:40 upstreams.openai.api_keys[0]: is a number; must be a string: put it in quotes'],
  ],
  [
    'an API key of digits without its list',
    '[sk-first]',
    '1234567890123',
    ['16:39 upstreams.openai.api_keys: is a number; must be a list: put brackets around it'],
  ],
  [
    'a map for an API key',
    '[sk-first]',
    '[key: sk-first]',
    ['16:40 upstreams.openai.api_keys[0]: is a map; must be a string'],
  ],
  [
    'an API key for an upstream',
    '{ vendor: openai, api_keys: [sk-first] }',
    'sk-first',
    ['16:11 upstreams.openai: is a string; must be a map, such as { vendor: … }'],
  ],
  [
    'an API key under a misspelled key',
    'api_keys: [sk-first]',
    'api_key: sk-first',
    ['16:29 upstreams.openai.api_key: is not a known key; did you mean "api_keys"?'],
  ],
  [
    'an API key with its scheme',
    '[sk-first]',
    '[Bearer sk-first]',
    ['16:40 upstreams.openai.api_keys[0]: has a space or a line break; use the key alone, as the vendor shows it'],
  ],
  [
    'a secret header of digits',
    '[sk-first]',
    '[sk-first], headers: { x-secret: 12345678 }',
    ['16:72 upstreams.openai.headers.x-secret: is a number; must be a string: put it in quotes'],
  ],
  [
    'headers without their map',
    '[sk-first]',
    '[sk-first], headers: "x-secret: abcdef"',
    ['16:60 upstreams.openai.headers: is a string; must be a map'],
  ],
  [
    'a short token',
    'token: 0123456789abcdefx',
    'token: abc',
    ['36:10 operator.token: is too short; needs at least 16'],
  ],
  [
    'a token of digits',
    'token: 0123456789abcdefx',
    'token: 1234567890123456',
    ['36:10 operator.token: is a number; must be a string: put it in quotes'],
  ],
  [
    'a token without its key',
    'operator:\n  token: 0123456789abcdefx',
    'operator: 0123456789abcdefx',
    ['35:11 operator: is a string; must be a map, such as { enabled: … }'],
  ],
  [
    'a password in a base URL',
    '"https://llm.example.com/v1"',
    '"https://me:hunter22@llm.example.com/v1"',
    [
      '21:34 upstreams.own.base_url: contains a user or password, which would not be sent; put a key under api_keys, or set auth: none and put the Authorization header under headers',
    ],
  ],
  [
    'a base URL without its scheme',
    '"https://llm.example.com/v1"',
    'llm.example.com/v1',
    ['21:34 upstreams.own.base_url: is "llm.example.com/v1"; must begin with https:// or http://'],
  ],
  [
    'a password in a misspelled base URL',
    '"https://llm.example.com/v1"',
    '"htps://me:hunter22@llm.example.com/v1"',
    ['21:34 upstreams.own.base_url: is "htps://…@llm.example.com/v1"; must begin with https:// or http://'],
  ],
  [
    'a key in a base URL',
    '"https://llm.example.com/v1"',
    '"https://llm.example.com/v1?key=hunter22"',
    [
      '21:34 upstreams.own.base_url: has a query (?…), which would not be sent; remove it; keys belong under api_keys, other credentials under headers',
    ],
  ],
  ['a port that does not exist', 'port: 8080', 'port: 80800', ['7:9 listen.port: is 80800; must be at most 65535']],
  ['a negative port', 'port: 8080', 'port: -1', ['7:9 listen.port: is -1; must be at least 0']],
  ['a port with a fraction', 'port: 8080', 'port: 80.5', ['7:9 listen.port: is 80.5; must be an integer']],
  [
    'a prefix in capital letters',
    'prefix: dp',
    'prefix: DP',
    [
      '3:11 service.prefix: is "DP"; expected: First part of API keys (`dp-…`) and of models’ public names (`dp/…`): 1 to 16 lower-case letters and digits.',
    ],
  ],
  [
    'a prefix with its slash',
    'prefix: dp',
    'prefix: dp/',
    [
      '3:11 service.prefix: is "dp/"; expected: First part of API keys (`dp-…`) and of models’ public names (`dp/…`): 1 to 16 lower-case letters and digits.',
    ],
  ],
  [
    'an e-mail address without mailto',
    'prefix: dp',
    'prefix: dp\n  contact: me@example.com',
    [
      '4:12 service.contact: is "me@example.com"; expected: Where users get support: a mailto: or https: URL, such as https://wa.me/628111002233 for WhatsApp.',
    ],
  ],
  [
    'a currency in small letters',
    'plans:',
    'currency: idr\nplans:',
    ['31:11 currency: is "idr"; expected: Currency of all prices: the three letters of ISO 4217.'],
  ],
  [
    'the symbol of a currency',
    'plans:',
    'currency: Rp\nplans:',
    ['31:11 currency: is "Rp"; expected: Currency of all prices: the three letters of ISO 4217.'],
  ],
  [
    'a plan without price',
    '    price: 289000\n',
    '',
    [
      '33:5 plans[1].price: is missing; add it: Price in the smallest unit in which the currency is paid: rupiah for IDR, cents for USD.',
    ],
  ],
  [
    'an unquoted @',
    'prefix: dp',
    'prefix: @dp',
    ['3:11: begins with @, which has a meaning in YAML; put the value in quotes'],
  ],
  [
    'unquoted backticks',
    'prefix: dp',
    'prefix: `dp`',
    ['3:11: begins with `, which has a meaning in YAML; put the value in quotes'],
  ],
  [
    'an unquoted percent sign',
    'prefix: dp',
    'prefix: %dp',
    ['3:11: begins with %, which has a meaning in YAML; put the value in quotes'],
  ],
  [
    'a variable as in a shell',
    'port: 8080',
    'port: $PORT',
    ['7:9 listen.port: is "$PORT"; must be an integer: write ${PORT} for the variable'],
    { PORT: '1' },
  ],
  [
    'a variable that is not set',
    'port: 8080',
    'port: ${PORT}',
    ['7:9 listen.port: the variable PORT is not set; set it, or give it a default: ${PORT:-…}'],
  ],
  [
    'a variable that is set to nothing',
    'port: 8080',
    'port: ${PORT}',
    [
      '7:9 listen.port: is "${PORT}", which is set to nothing; set the variable to a value, or give it a default: ${NAME:-…}',
    ],
    { PORT: '' },
  ],
  [
    'a quoted variable that is set to nothing',
    'port: 8080',
    'port: "${PORT}"',
    [
      '7:9 listen.port: is "${PORT}", which is set to nothing; set the variable to a value, or give it a default: ${NAME:-…}',
    ],
    { PORT: '' },
  ],
  [
    'a variable that holds a text for a number',
    'port: 8080',
    'port: ${PORT}',
    ['7:9 listen.port: does not accept the value of "${PORT}"; must be an integer'],
    { PORT: 'http' },
  ],
  [
    'a variable that holds a number with its unit',
    'first_byte_timeout: 60',
    'first_byte_timeout: "${T}"',
    ['13:37 pipeline[4].upstream.first_byte_timeout: does not accept the value of "${T}"; must be a number of seconds'],
    { T: '60s' },
  ],
  [
    'an unquoted variable in brackets',
    '[sk-first]',
    '[${KEY}]',
    ['16:41: has an unquoted variable inside braces or brackets; put it in quotes: "${NAME}"'],
    { KEY: 'x' },
  ],
  [
    'an unquoted variable in braces',
    'days: 1,',
    'days: ${D},',
    ['32:14: has an unquoted variable inside braces or brackets; put it in quotes: "${NAME}"'],
    { D: '1' },
  ],
  [
    'an API key as a variable of Windows',
    '[sk-first]',
    '["%KEY%"]',
    ['16:40 upstreams.openai.api_keys[0]: is a variable in the notation of another program; write "${KEY}"'],
  ],
  [
    'a default without its hyphen',
    'port: 8080',
    'port: ${PORT:8080}',
    [
      '7:9 listen.port: has "${PORT:8080}", which is not a valid variable; write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a literal ${',
    ],
  ],
  [
    'a variable as in make',
    'port: 8080',
    'port: $(PORT)',
    ['7:9 listen.port: is "$(PORT)"; must be an integer: write ${PORT} for the variable'],
  ],
  [
    'an unquoted variable of a template',
    'port: 8080',
    'port: {{ PORT }}',
    ['7:9 listen.port: is a map; must be an integer'],
  ],
  [
    'a variable of a template',
    'port: 8080',
    'port: "{{ PORT }}"',
    ['7:9 listen.port: is "{{ PORT }}"; must be an integer: write ${PORT} for the variable'],
  ],
  [
    'a comment without a space before it',
    'port: 8080',
    'port: 8080# x',
    ['7:9 listen.port: is "8080# x"; must be an integer: 8080'],
  ],
  [
    'a comment with slashes',
    'port: 8080',
    'port: 8080 // public',
    ['7:14 listen.port: has //, which begins no comment in YAML; begin comments with #, or put the value in quotes'],
  ],
  ['a second document', 'operator:', '---\noperator:', ['35:1: has a second document; keep one and remove the ---']],
  [
    'an anchor',
    'service:',
    'service: &a',
    ['2:3 service: has an anchor (&a); remove it and write the value where it is used'],
  ],
];

export const typingErrors: readonly TypingError[] = rows.map(([name, meant, typed, answer, environment = {}]) => ({
  name,
  meant,
  typed,
  answer,
  environment,
}));
