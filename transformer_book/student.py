"""Student's t distribution, with which the findings are judged."""

# The 97.5 % quantiles for 1, 2, 3, ... degrees of freedom.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)


def quantile_975(freedom: int) -> float:
    """With so many degrees of freedom 95 % lie between minus this and this.

    Beyond the table it is Cornish and Fisher's expansion around the normal distribution's 1.96.
    """
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    return 1.95996 + 2.3723 / freedom + 2.8225 / freedom**2 + 2.5557 / freedom**3
