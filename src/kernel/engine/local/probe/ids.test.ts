import { describe, expect, it } from 'vitest';
import { readIdSpace } from '../ids.ts';
import { accountOf, idProgramsRow, idRangeRow } from './ids.ts';

const rootMap = '         0          0 4294967295\n';
const lentMap = '         0       1000          1\n         1     100000      65536\n';
const passwd = 'root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\n';

function texts(uidMap: string, change: object = {}) {
  return { space: readIdSpace(uidMap), uidMap, gidMap: uidMap, subuid: '', subgid: '', passwd, ...change };
}

describe('an account', () => {
  it('is found by its uid', () => {
    expect(accountOf(passwd, 1000)).toBe('ada');
    expect(accountOf(passwd, 1001)).toBeNull();
  });
});

describe('the ids of root', () => {
  it('belong to no account', () => {
    expect(idRangeRow(texts(rootMap, { subuid: 'ada:100000:65536\n' }))).toMatchObject({
      level: 'ok',
      detail: '65536 ids for each of 4094 users, from 1879048192',
    });
  });

  it('are reported when they overlap with subordinate ids of an account', () => {
    const row = idRangeRow(texts(rootMap, { subgid: '# a comment\n\nada:1879000000:65536\n' }));
    expect(row).toMatchObject({ level: 'warning', hint: 'Give ada a range below 1879048192.' });
  });
});

describe('the ids of an ordinary user', () => {
  it('are ok if a user fits into the range', () => {
    expect(idRangeRow(texts(lentMap))).toMatchObject({
      level: 'ok',
      detail: '65536 ids from 100000, room for 16 users',
    });
  });

  it('are a failure if no ids are lent to the account', () => {
    const row = idRangeRow(texts('0 1000 1\n', { subuid: 'eve:100000:65536\neve:165536:65536\n' }));
    expect(row).toMatchObject({ level: 'failure', detail: 'no ids are lent to ada' });
    expect(row.hint).toContain('--add-subuids 231072-296607 --add-subgids 231072-296607 ada');
  });

  it('are a failure if no user fits into the range', () => {
    expect(idRangeRow(texts('0 1000 1\n1 100000 1000\n')).level).toBe('failure');
  });

  it('are limited by the smaller of the uid and gid ranges', () => {
    expect(idRangeRow(texts(lentMap, { gidMap: '0 1000 1\n' })).level).toBe('failure');
  });

  it('need the programs newuidmap and newgidmap', () => {
    const both = { newuidmap: '/usr/bin/newuidmap', newgidmap: '/usr/bin/newgidmap' };
    expect(idProgramsRow(both).level).toBe('ok');
    expect(idProgramsRow({ ...both, newgidmap: null })).toMatchObject({
      level: 'failure',
      detail: 'newgidmap not installed',
    });
  });
});
