/** A client of another language, installed on demand into a folder of the cache. */
export interface ForeignClient {
  readonly id: string;
  readonly version: string;
  /** Commands without which it is skipped. */
  readonly toolchain: readonly string[];
  /** Its program in `test/conformance/clients`. */
  readonly program: string;
  /** Run one after the other in its folder. `PROGRAM` stands for the path of the program. */
  readonly install: readonly (readonly string[])[];
  readonly start: readonly string[];
  /** Whether it sends an image and a PDF. */
  readonly hasFiles?: boolean;
}

export const foreignClients: readonly ForeignClient[] = [
  python('anthropic', '2.12.0', 'anthropic_runner.py'),
  { ...python('google-genai', '3.4.0', 'google_genai_files.py'), hasFiles: true },
];

function python(name: string, version: string, file: string): ForeignClient {
  return {
    id: `${name}-python`,
    version,
    toolchain: ['python3'],
    program: `python/${file}`,
    install: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`],
    ],
    start: ['venv/bin/python', 'PROGRAM'],
  };
}
