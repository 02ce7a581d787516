using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Looks at all that a trim will come to behind an entry that is about to be added: what lies on a tier and cannot be read is found out, or waited for, before anything has changed.
/// </summary>
public unsafe struct TrimLook : IExamine
{
    public TrimPlan Plan;
    public ReferencePolicy Policy;

    public readonly void Look(ref RecordEdit record)
    {
        if (record.Kind != RecordKind.Stream || !record.MayLack)
            return;
        TrimPlan plan = Plan;
        if (plan.ByLength)
            plan.LengthMax = Math.Max(plan.LengthMax - 1, 0); // there will be one more
        ReferencePolicy policy = StreamForm.Header(ref record)->Groups == 0 ? ReferencePolicy.Keep : Policy;
        if (policy == ReferencePolicy.Acknowledged)
        {
            References.LookAtFirst(ref record, policy, plan, References.Wanted(ref record, plan));
            return;
        }

        long count = plan.Count(ref record);
        if (count == 0)
            return;
        StreamForm.LookAtFirst(ref record, count);
        if (policy == ReferencePolicy.Delete)
            References.LookAtFirst(ref record, policy, new TrimPlan { ByLength = true }, count);
    }
}
