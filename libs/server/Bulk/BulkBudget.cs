namespace Garnet.Server.Bulk;

/// <summary>
/// Who may have how much on its way, of all sessions and of each. Whoever alone wants more than there is gets it when nothing else is
/// under way: else a value of more bytes than the budget could never be moved. From any thread.
/// </summary>
internal sealed class BulkBudget(BulkSettings settings)
{
    private readonly Lock _gate = new();
    private readonly HashSet<Action> _waiting = [];
    private long _operations, _apart;

    /// <summary>Bytes on their way.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Transfers under way.</summary>
    internal long Operations => Volatile.Read(ref _operations);

    /// <summary>Those that wait for one of these to end.</summary>
    internal int Waiting
    {
        get
        {
            lock (_gate)
                return _waiting.Count;
        }
    }

    /// <summary>
    /// True if one more transfer of the session may begin; it is counted then. Else the waiter is called, once, when another one has
    /// ended.
    /// </summary>
    internal bool TryTake(BulkShare share, long bytes, Action? waiter)
    {
        lock (_gate)
        {
            bool fitsSession = share.Operations == 0
                || (share.Operations < settings.SessionOperationsMax && bytes <= settings.SessionBytesMax - share.Bytes);
            bool fits = fitsSession && (_operations == 0 || bytes <= settings.BytesMax - Bytes);
            if (!fits)
            {
                if (waiter is not null)
                    _waiting.Add(waiter);
                return false;
            }

            share.Operations++;
            share.Bytes += bytes;
            _operations++;
            Bytes += bytes;
            return true;
        }
    }

    /// <summary>The waiter does not wait any more.</summary>
    internal void Forget(Action waiter)
    {
        lock (_gate)
            _waiting.Remove(waiter);
    }

    /// <summary>The transfer has ended and its memory is free.</summary>
    internal void Give(BulkShare share, long bytes) => Change(() =>
    {
        share.Operations--;
        share.Bytes -= bytes;
        if (share.IsApart)
        {
            _apart -= bytes;
            return;
        }

        _operations--;
        Bytes -= bytes;
    });

    /// <summary>
    /// bulk.S5: what a session has that is held up is no part of what others share any more, if all of those together have no more than
    /// that again.
    /// </summary>
    internal void SetApart(BulkShare share) => Change(() =>
    {
        if (share.IsApart || share.Bytes > settings.BytesMax - _apart)
            return;
        share.IsApart = true;
        _apart += share.Bytes;
        _operations -= share.Operations;
        Bytes -= share.Bytes;
    });

    private void Change(Action change)
    {
        Action[] waiting;
        lock (_gate)
        {
            change();
            waiting = [.. _waiting];
            _waiting.Clear();
        }

        foreach (Action waiter in waiting)
            waiter();
    }
}
