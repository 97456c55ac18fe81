import { randomBytes } from 'node:crypto';
import type { JsonObject } from '#core/platform/json.ts';
import type { Answer, AnswerBlock } from '../conformance/conversation.ts';
import { askedAs, modelThere } from '../conformance/fixture.ts';
import { upstreams } from '../conformance/upstreams/index.ts';
import { createUpstream, type RecordedRequest, type ScriptedResponse } from '../support/faulty-upstream.ts';
import type { UpstreamTextFormat } from '../support/formats.ts';
import { type OfferedTool, offeredTools, requiresCall, sampleInput } from './offered-tools.ts';
import { shellCall } from './shell-tool.ts';

/** One turn that a client is asked to take: run a command with a tool, and say what it printed. */
export interface Turn {
  /** The prompt of the user. */
  readonly prompt: string;
  /** The token that the command prints and writes; only a client that runs the command learns it. */
  readonly token: string;
  /** The file that the command writes, in the work folder. */
  readonly file: string;
  /** The model's last words. */
  readonly text: string;
  /** The faults that the model saw. */
  readonly faults: readonly string[];
  /** Names of the tools that were called. */
  readonly called: readonly string[];
}

/** A model of every format that answers a prompt with a call of the client's shell tool, and its result with a text. */
export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  begin(): Turn;
}

interface RunningTurn extends Turn {
  readonly id: string;
  readonly command: string;
  readonly faults: string[];
  readonly called: string[];
  hasFailed?: boolean;
}

/** A client whose tool fails is not asked without end. */
const maxCalls = 3;
const usage = { input: 1_200, cached: 0, output: 40, thinking: 0 };

export async function startScriptedModel(): Promise<ScriptedModel> {
  const turns: RunningTurn[] = [];
  const upstream = await createUpstream((request, response) => reply(request, response, turns));
  return {
    url: upstream.url,
    requests: upstream.requests,
    begin() {
      const turn = newTurn();
      turns.push(turn);
      return turn;
    },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

function newTurn(): RunningTurn {
  const [id, head, tail] = [randomBytes(4), randomBytes(6), randomBytes(6)].map((bytes) => bytes.toString('hex'));
  const token = `${head}-${tail}`;
  const file = `written-${id}.txt`;
  return {
    id: String(id),
    prompt: `Task ${id}: run the shell command that belongs to this task, then say what it printed.`,
    token,
    file,
    // The token is put together by the command, so that a repeated command is not taken for its result. Qwen Code loses
    // the output of a command that ends at once.
    command: `printf '%s-%s\\n' ${head} ${tail} > ${file} && cat ${file} && sleep 1`,
    text: `The command printed ${token}.`,
    faults: [],
    called: [],
  };
}

/** What upstreams answer whose key begins with `fails-` and the status that clients get for it; 429 is for the first request of a turn. */
const failures: Readonly<Record<string, { readonly status: number; readonly headers?: Record<string, string> }>> = {
  424: { status: 401 },
  429: { status: 429, headers: { 'retry-after': '3' } },
  503: { status: 503, headers: { 'retry-after': '30' } },
};

function failureOf({ headers, body }: RecordedRequest, turns: readonly RunningTurn[]) {
  const [, name = ''] = /fails-(\d+)/.exec(String(headers['authorization'])) ?? [];
  const turn = turns.find(({ id }) => body.includes(`Task ${id}:`));
  if (name !== '429') return failures[name];
  if (turn === undefined || turn.hasFailed) return undefined;
  turn.hasFailed = true;
  return failures[name];
}

function reply(request: RecordedRequest, response: ScriptedResponse, turns: readonly RunningTurn[]): void {
  const failure = failureOf(request, turns);
  if (failure !== undefined) {
    const error = { message: 'No.', type: 'error' };
    return response.json(failure.status, { error }, failure.headers ?? {});
  }
  const asked = askedAs(request);
  if (asked === undefined) return response.json(404, { error: { message: `nothing at ${request.path}` } });
  const format = upstreams[asked.format];
  const body = request.json<JsonObject>();
  // A tool that continues its session sends the tasks before as well.
  const turn = turns.findLast(({ id }) => request.body.includes(`Task ${id}:`));
  const tools = offeredTools(asked.format, body);
  const blocks = turn === undefined ? besides(asked.format, body, tools) : answerOf(turn, request, tools);
  const answer: Answer = { blocks, end: blocks.some(({ type }) => type === 'call') ? 'calls' : 'stop', usage };
  if (!asked.isStream) return response.json(200, format.whole(answer, modelThere));
  const stream = format.frame(format.events(answer, modelThere));
  response.send(200, { 'content-type': format.streamType ?? 'text/event-stream' }, stream);
}

/** The answer to requests for titles and summaries beside the turn. */
const aside: AnswerBlock = { type: 'text', text: '{"title":"A task","isNewTopic":true}' };

/** The answer to a request without a task: a call where it requires one, as the script's --verify does. */
function besides(format: UpstreamTextFormat, body: JsonObject, tools: readonly OfferedTool[]): AnswerBlock[] {
  const [tool] = tools;
  if (tool === undefined || !requiresCall(format, body)) return [aside];
  return [{ type: 'call', id: 'call_required', name: tool.name, input: sampleInput(tool) }];
}

function answerOf(turn: RunningTurn, { body }: RecordedRequest, tools: readonly OfferedTool[]): AnswerBlock[] {
  if (body.includes(turn.token)) return [{ type: 'text', text: turn.text }];
  if (tools.length === 0) return [aside];
  const call = shellCall(tools, turn.command);
  if (call === undefined) {
    turn.faults.push(`no shell among the tools ${tools.map(({ name }) => name).join(', ')}`);
    return [{ type: 'text', text: 'There is no tool that runs a command.' }];
  }
  if (turn.called.length === maxCalls) {
    turn.faults.push(`no result of ${turn.called.at(-1)} contains what the command prints`);
    return [{ type: 'text', text: 'The tool did not run the command.' }];
  }
  turn.called.push(call.name);
  return [{ type: 'call', id: `call_${turn.id}_${turn.called.length}`, ...call }];
}
