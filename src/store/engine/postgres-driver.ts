import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { CommitUnknown } from './errors.ts';

/** Lets Kysely speak to PostgreSQL over connections that may be lost at any moment. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LentConnection> {
    return new LentConnection(await this.#pool.connect());
  }

  async beginTransaction(connection: DatabaseConnection, { isolationLevel }: TransactionSettings) {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : '';
    await connection.executeQuery(CompiledQuery.raw(`start transaction${level}`));
  }

  /** @throws CommitUnknown unless the database itself says that it rolled back */
  async commitTransaction(connection: LentConnection): Promise<void> {
    const { command } = await connection.run('commit').catch((error: unknown) => {
      throw provesRollback(error) ? error : new CommitUnknown(error);
    });
    // This is how it answers when a statement had failed unnoticed.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    // The database rolls back by itself when the connection is lost; another error would hide the first one.
    if (!connection.isBroken()) await connection.run('rollback');
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection for one transaction or statement; a broken one doesn't go back to the pool. */
class LentConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #broken: Error | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.run(sql, parameters);
    return { rows };
  }

  async run(sql: string, parameters: readonly unknown[] = []) {
    if (this.#broken) throw this.#broken;
    try {
      return await this.#client.query(sql, parameters.map(cleanText));
    } catch (error) {
      if (!isStatementError(error)) this.#broken = error instanceof Error ? error : new Error('unknown');
      throw error;
    }
  }

  streamQuery(): never {
    throw new Error('queries are not streamed');
  }

  isBroken(): boolean {
    return this.#broken !== undefined;
  }

  release(): void {
    this.#client.release(this.#broken);
  }
}

/** Errors after which the database ends the connection: a shutdown, a lost or confused client, one that idled too long. */
const ENDS_CONNECTION = /^(57P|08|25P0[34])/;

/** Whether the database refused this statement alone: the connection is as good as before. Its words may be in any language. */
function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !ENDS_CONNECTION.test(error.code ?? '08');
}

/** Whether a commit failed for a conflict or a constraint. After any other error it may have been stored. */
function provesRollback(error: unknown): boolean {
  return error instanceof DatabaseError && /^(40|23)/.test(error.code ?? '');
}

/** Whether a transaction was rolled back because another one was in its way. */
export function isConflict(error: unknown): boolean {
  return isStatementError(error) && (error.code === '40001' || error.code === '40P01');
}

/** A character that the database can't store becomes the sign for one; what users type must not be an error. */
function cleanText(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.replaceAll('\0', '\uFFFD') : parameter;
}
