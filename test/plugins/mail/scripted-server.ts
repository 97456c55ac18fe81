import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What a server replies to a command; a function replies by itself, or never. `hang up` after a text closes the connection. */
type Reply = string | { readonly last: string } | ((socket: Socket, line: string) => void);

/** Replies by command, `greeting` and `dot` (the end of a mail) among them. Others have those of a server that takes all. */
export type Script = Readonly<Record<string, Reply>>;

export interface ScriptedServer extends AsyncDisposable {
  readonly port: number;
  /** Commands as they came. */
  readonly lines: readonly string[];
  /** Mails that were transferred, as text. */
  readonly mails: readonly string[];
}

const takesAll: Script = {
  greeting: '220 ready',
  EHLO: '250 hello',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  dot: '250 taken',
  QUIT: { last: '221 bye' },
};

/** An SMTP server that says what its script has, for each command of a batch too. @param script replaces replies for all, or those of a connection */
export async function startScriptedServer(script: Script | ((connection: number) => Script)): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const mails: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const replies: Script = { ...takesAll, ...(typeof script === 'function' ? script(sockets.size) : script) };
    const say = (name: string, line: string) => {
      const reply = replies[name] ?? '250 ok';
      if (typeof reply === 'function') reply(socket, line);
      else if (typeof reply === 'string') socket.write(`${reply}\r\n`);
      else socket.end(`${reply.last}\r\n`);
    };
    let rest = '';
    let isMail = false;
    socket.on('data', (chunk: Buffer) => {
      rest += chunk.toString();
      for (;;) {
        const mark = isMail ? '\r\n.\r\n' : '\r\n';
        const end = rest.indexOf(mark);
        if (end < 0) return;
        const line = rest.slice(0, end);
        rest = rest.slice(end + mark.length);
        if (isMail) mails.push(line);
        else lines.push(line);
        const name = isMail ? 'dot' : (line.split(/[ :]/)[0] ?? '').toUpperCase();
        isMail = name === 'DATA' && (typeof replies['DATA'] !== 'string' || replies['DATA'].startsWith('3'));
        say(name, line);
      }
    });
    say('greeting', '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    mails,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
