/**
 * A language whose SDKs are installed on demand. Commands run in the folder of its programs, `test/conformance/clients/NAME`;
 * `CACHE` stands for the folder of its installation.
 */
export interface Language {
  readonly name: string;
  /** Commands without which its clients are skipped. */
  readonly toolchain: readonly string[];
  /** The file that pins the versions of its SDKs. */
  readonly pins: string;
  /** Run once for each content of `pins`. Its clients are skipped when one fails. */
  readonly install: readonly string[];
  /** Run once a run. */
  readonly build?: string;
  /** The id of a client follows. */
  readonly start: string;
}

/** A client of another language. */
export interface ForeignClient {
  readonly id: string;
  readonly language: Language;
  /** Its SDK, as `pins` calls it. */
  readonly sdk: string;
  /** It drops PDFs, or uploads them to a store of files, which the gateway does not have. */
  readonly hasPdf?: false;
}

const javascript: Language = {
  name: 'javascript',
  toolchain: ['node', 'npm'],
  pins: 'package.json',
  install: ['cp package.json CACHE', 'npm install --prefix CACHE --no-package-lock --no-audit --no-fund'],
  // Next to its packages, where Node.js looks for them.
  build: 'cp loops.mjs ai-sdk.mjs langgraph.mjs agents-socket.mjs CACHE',
  start: 'node CACHE/loops.mjs',
};

const python: Language = {
  name: 'python',
  toolchain: ['python3'],
  pins: 'requirements.txt',
  install: [
    'python3 -m venv CACHE/venv',
    'CACHE/venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt',
  ],
  start: 'CACHE/venv/bin/python -B loops.py',
};

/** Frameworks demand older SDKs than those that are played by themselves. */
const pythonFrameworks: Language = {
  ...python,
  pins: 'frameworks.txt',
  install: python.install.map((command) => command.replace(python.pins, 'frameworks.txt')),
};

const go: Language = {
  name: 'go',
  toolchain: ['go'],
  pins: 'go.mod',
  install: ['go mod download'],
  build: 'nice go build -o CACHE/loops .',
  start: 'CACHE/loops',
};

const java: Language = {
  name: 'java',
  toolchain: ['mvn', 'javac'],
  pins: 'pom.xml',
  install: [
    'mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=CACHE/lib',
  ],
  build:
    'nice javac -d CACHE/classes -cp CACHE/lib/* Loops.java AnthropicLoop.java OpenAiLoop.java OpenAiSocketLoop.java',
  start: 'java -cp CACHE/classes:CACHE/lib/* Loops',
};

const spring: Language = {
  ...java,
  pins: 'spring-pom.xml',
  install: java.install.map((command) => command.replace('mvn -q -B', 'mvn -q -B -f spring-pom.xml')),
  build: 'nice javac -d CACHE/classes -cp CACHE/lib/* Loops.java SpringLoop.java',
};

/** The APIs that AI SDK speaks. */
const aiSdkApis = ['anthropic', 'openai-chat', 'openai-responses', 'google'];

export const foreignClients: readonly ForeignClient[] = [
  ...[5, 6, 7].flatMap((version) =>
    aiSdkApis.map((api) => ({ id: `ai-sdk-${version}-${api}`, language: javascript, sdk: `"ai-sdk-${version}"` })),
  ),
  { id: 'openai-agents-javascript-socket', language: javascript, sdk: '"@openai/agents"' },
  { id: 'anthropic-python', language: python, sdk: 'anthropic' },
  { id: 'google-genai-python', language: python, sdk: 'google-genai' },
  { id: 'openai-python-socket', language: python, sdk: 'openai[realtime]' },
  { id: 'openai-agents-python-socket', language: python, sdk: 'openai-agents' },
  { id: 'anthropic-go', language: go, sdk: 'anthropic-sdk-go/v2' },
  { id: 'openai-go', language: go, sdk: 'openai-go/v3' },
  { id: 'openai-go-socket', language: go, sdk: 'openai-go/v3' },
  { id: 'google-genai-go', language: go, sdk: 'google.golang.org/genai' },
  ...['openai-chat', 'openai-responses', 'anthropic'].map((api) => ({
    id: `langgraph-${api}`,
    language: javascript,
    sdk: '"@langchain/langgraph"',
  })),
  ...['openai', 'gemini', 'anthropic'].map((api) => ({
    id: `google-adk-${api}`,
    language: pythonFrameworks,
    sdk: 'google-adk',
    ...(api === 'openai' && { hasPdf: false as const }),
  })),
  ...['chat', 'responses', 'anthropic'].map((api) => ({
    id: `agent-framework-${api}`,
    language: pythonFrameworks,
    sdk: 'agent-framework-core',
    ...(api === 'anthropic' && { hasPdf: false as const }),
  })),
  { id: 'anthropic-java', language: java, sdk: 'anthropic-java' },
  { id: 'openai-java', language: java, sdk: 'openai-java' },
  { id: 'openai-java-socket', language: java, sdk: 'openai-java' },
  ...['openai', 'anthropic'].map((api) => ({ id: `spring-ai-${api}`, language: spring, sdk: 'spring-ai' })),
];
