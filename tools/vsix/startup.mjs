// How long a packaged server takes from its start to its answer to `initialize`.

import { spawn } from 'node:child_process';

/** Milliseconds of one start; rejects where the server ends or answers with an error. */
export function start(python, launcher) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const server = spawn(python, ['-I', '-S', launcher, 'server'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let output = Buffer.alloc(0);
    let errors = '';
    server.on('error', reject);
    server.on('exit', (status) => reject(new Error(`the packaged server ended with ${status}:\n${errors}`)));
    server.stderr.on('data', (data) => (errors += data));
    server.stdout.on('data', (data) => {
      output = Buffer.concat([output, data]);
      const answer = message(output);
      if (!answer) return;
      const took = performance.now() - begin;
      server.removeAllListeners('exit');
      server.on('exit', () => {
        if (answer.result) resolve({ took, capabilities: answer.result.capabilities });
        else reject(new Error(JSON.stringify(answer.error)));
      });
      send(server, { id: 2, method: 'shutdown' });
      send(server, { method: 'exit' });
    });
    send(server, { id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } });
  });
}

function send(server, message) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** The first whole message in what has come so far. */
function message(output) {
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const length = Number(/Content-Length: (\d+)/i.exec(output.subarray(0, end).toString())[1]);
  const body = output.subarray(end + 4, end + 4 + length);
  return body.length < length ? undefined : JSON.parse(body.toString());
}
