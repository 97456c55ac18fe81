import { type AnswerEvent, type ChaosFormat, writeAnswer } from './answers.ts';
import { hostileValues } from './hostile-json.ts';

/** What an upstream sends to hold the loop of the gateway: a whole body, or a stream of events. */
export interface HostileAnswer {
  readonly name: string;
  readonly isStream: boolean;
  /** @param size in characters, at most and about */
  write(format: ChaosFormat, size: number): string;
}

/** Characters of the longest event and of the longest stream: more would only take longer. */
const longestEvent = 15_000_000;
const longestStream = 4_000_000;
/** The member with the choices, or with what takes their place. */
const choices = { chat: 'choices', responses: 'output', messages: 'content', gemini: 'candidates' } as const;

export const hostileAnswers: readonly HostileAnswer[] = [
  ...Object.entries(hostileValues).flatMap(([name, make]): HostileAnswer[] => [
    {
      name: `a whole answer with ${name}`,
      isStream: false,
      write: (format, size) => withMember(JSON.stringify(writeAnswer(format, 'hostile').whole), make(size)),
    },
    {
      name: `an event with ${name}`,
      isStream: true,
      write: (format, size) =>
        streamWith(format, ([word]) =>
          framed(withMember(dataOf(word), make(Math.min(size, longestEvent))), word?.name),
        ),
    },
  ]),
  {
    name: 'very many choices',
    isStream: false,
    write: (format, size) => {
      const list = `[${'{"index":1,"message":{}},'.repeat(size / 25)}{}]`;
      return `{"${choices[format]}":${list},${JSON.stringify(writeAnswer(format, 'hostile').whole).slice(1)}`;
    },
  },
  {
    name: 'very many deltas',
    isStream: true,
    write: (format, size) => streamWith(format, (words) => filled(words.map(written).join(''), size)),
  },
  ...Object.entries({
    comments: ':\n\n',
    'empty events': 'data:\n\n',
    'empty objects': 'data: {}\n\n',
    'line feeds': '\n\n',
    'lines of one event': 'data: a\n',
  }).map(([name, text]): HostileAnswer => ({
    name: `very many ${name}`,
    isStream: true,
    write: (format, size) => streamWith(format, () => filled(text, size)),
  })),
];

/** A stream with something more between its opening and its words. */
function streamWith(format: ChaosFormat, more: (words: readonly AnswerEvent[]) => string): string {
  const { opening, words, closing } = writeAnswer(format, 'hostile');
  return opening.map(written).join('') + more(words) + [...words, ...closing].map(written).join('');
}

function filled(text: string, size: number): string {
  return text.repeat(Math.min(size, longestStream) / text.length);
}

function withMember(json: string, value: string): string {
  return `${json.slice(0, -1)},"x":${value}}`;
}

function written(event: AnswerEvent): string {
  return framed(dataOf(event), event.name);
}

function dataOf(event: AnswerEvent | undefined): string {
  return typeof event?.data === 'string' ? event.data : JSON.stringify(event?.data ?? {});
}

function framed(data: string, name: string | undefined): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`;
}
