/**
 * Writes messages to a language server, each in one write. The writer of vscode-jsonrpc writes the header first and
 * waits, which wakes the server twice and sends the body one turn of the event loop later.
 */
import type { Writable } from 'node:stream';
import { AbstractMessageWriter, type Message } from 'vscode-jsonrpc/node';

export class WholeWriter extends AbstractMessageWriter {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    super();
    this.#stream = stream;
    stream.on('error', (error) => this.fireError(error)).once('close', () => this.fireClose());
  }

  write(message: Message): Promise<void> {
    const body = JSON.stringify(message);
    const whole = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return new Promise((resolve, reject) => {
      this.#stream.write(whole, (error) => (error ? reject(error) : resolve()));
    });
  }

  end(): void {}
}
